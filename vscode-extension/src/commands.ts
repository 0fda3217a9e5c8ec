// Every command, in one table.

import { commands, type Disposable, type LogOutputChannel, Uri, window, workspace } from "vscode";
import { type Approvals, type Choice, deed } from "./approvals";
import { examine } from "./doctor";
import { short, visible } from "./escape";
import type { Front } from "./front";
import { changeMode } from "./modes";
import type { Pages } from "./pages";
import type { Paused } from "./paused";
import type { Prompts } from "./prompts";
import { approvalIdOf } from "./schemes";
import type { Session } from "./session";
import { agents, isAgent, setUpLine } from "./set-up";
import type { Entry } from "./view";
import { getStarted } from "./walkthrough";

export interface Workbench {
  approvals: Approvals;
  prompts: Prompts;
  paused: Paused;
  front: Front;
  pages: Pages;
  session: Session;
  log: LogOutputChannel;
}

type Handler = (bench: Workbench, ...args: unknown[]) => unknown;

const table: Record<string, Handler> = {
  ...answering("approve", (bench, ids) => {
    answer(bench, ids, { kind: "approve" });
  }),
  ...answering("approveAndRemember", approveAndRemember),
  ...answering("reject", (bench, ids) => {
    answer(bench, ids, { kind: "reject" });
  }),
  ...answering("rejectWithReason", rejectWithReason),
  ...answering("cancel", (bench, ids) => {
    answer(bench, ids, { kind: "cancel" });
  }),
  "pillion.editCommand": editCommand,
  "pillion.answerTogether": answerTogether,
  "pillion.show": show,
  "pillion.showWaiting": showWaiting,
  "pillion.answerPrompt": (bench, target) => bench.prompts.pick(typeof target === "string" ? target : promptIdOf(target as Entry)),
  "pillion.resume": resume,
  "pillion.changeMode": ({ session }) => changeMode(session),
  "pillion.saveUnseen": saveUnseen,
  "pillion.restart": (bench) => bench.session.restart(),
  "pillion.stop": (bench) => bench.session.stop(),
  "pillion.showLog": (bench) => {
    bench.log.show();
  },
  "pillion.explainFailure": (bench) => explainFailure(bench),
  "pillion.connectAgent": connectAgent,
  "pillion.doctor": (bench) => examine(bench),
  "pillion.getStarted": getStarted,
};

export function registerCommands(bench: Workbench): Disposable[] {
  return Object.entries(table).map(([id, handler]) => commands.registerCommand(id, (...args: unknown[]) => handler(bench, ...args)));
}

/** Says what went wrong with the sidecar, with the way out. */
export async function explainFailure({ session, log }: Pick<Workbench, "session" | "log">): Promise<void> {
  const { state } = session;
  if (state.kind !== "failed") {
    return;
  }
  const actions = state.missing ? ["Open Setting", "Try Again"] : ["Restart", "Show Output"];
  switch (await window.showErrorMessage(`Pillion: ${state.problem}`, ...actions)) {
    case "Open Setting":
      await commands.executeCommand("workbench.action.openSettings", "pillion.path");
      break;
    case "Show Output":
      log.show();
      break;
    case "Restart":
    case "Try Again":
      await session.restart();
  }
}

/**
 * One answer's command, under three names: for a dialog's title or a link in it (an address comes along), for the view
 * (entries come along; there it has an icon) and for keys. A key that was meant for another editor must not hit a dialog
 * that has just got the focus.
 */
function answering(name: string, give: (bench: Workbench, ids: readonly string[], decisionId?: unknown) => unknown): Record<string, Handler> {
  return {
    [`pillion.${name}`]: (bench, first, second) => give(bench, first instanceof Uri ? named(first) : focused(bench), second),
    [`pillion.${name}InView`]: (bench, first, second) => give(bench, listed(first, second)),
    [`pillion.${name}ByKey`]: (bench) => give(bench, bench.front.takesKeys ? focused(bench) : []),
  };
}

function named(uri: Uri): string[] {
  return [approvalIdOf(uri)].filter((id) => id !== undefined);
}

function focused({ front }: Workbench): string[] {
  return front.focused === undefined ? [] : [front.focused];
}

/** The entry whose button was pressed, or the whole selection when it is part of it. */
function listed(pressed: unknown, selected: unknown): string[] {
  const entries = Array.isArray(selected) && selected.includes(pressed) ? (selected as Entry[]) : [pressed as Entry];
  return [...new Set(entries.flatMap((entry) => ("approval" in entry ? [entry.approval.id] : [])))];
}

function answer({ approvals }: Workbench, ids: readonly string[], choice: Choice): void {
  for (const id of ids) {
    if (approvals.answer(id, choice) === "too-soon") {
      window.setStatusBarMessage("$(watch) Pillion: that came within half a second of the dialog, so it was not taken as your answer", 4000);
    }
  }
}

async function approveAndRemember(bench: Workbench, ids: readonly string[], decisionId?: unknown): Promise<void> {
  if (typeof decisionId === "string") {
    answer(bench, ids, { kind: "remember", decisionId }); // a link that shows the rule itself
    return;
  }
  for (const id of ids) {
    const remembering = bench.approvals.get(id)?.remembering ?? [];
    const items = remembering.map((decision) => ({
      label: visible(decision.title),
      detail: decision.rule ? `saves the rule  ${visible(decision.rule)}` : "",
      decisionId: decision.id,
    }));
    const chosen = await window.showQuickPick(items, { title: "Approve and remember", placeHolder: "What is remembered is exactly the rule shown" });
    if (chosen) {
      answer(bench, [id], { kind: "remember", decisionId: chosen.decisionId });
    }
  }
}

async function rejectWithReason(bench: Workbench, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const feedback = await window.showInputBox({
    title: "Reject with a reason",
    prompt: "The agent reads this and goes on. Escape leaves the question waiting.",
    placeHolder: "for example: keep the old name, other modules import it",
    ignoreFocusOut: true,
  });
  if (feedback !== undefined) {
    answer(bench, ids, { kind: "reject", feedback });
  }
}

/** The command is the human's then: approved as they wrote it, and the agent is told. */
async function editCommand(bench: Workbench, first: unknown): Promise<void> {
  const [id] = first instanceof Uri ? named(first) : focused(bench);
  const approval = bench.approvals.get(id ?? "");
  const proposed = approval?.editableCommand;
  if (!approval || proposed === undefined) {
    void window.showInformationMessage("There is no command here that one plain line could hold.");
    return;
  }
  const { digest } = approval.request;
  const command = await window.showInputBox({
    title: "Run this instead",
    prompt: `Enter runs what stands here, and ${short(approval.request.agent.name, 40)} is told. Escape leaves the question waiting.`,
    value: proposed,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "An empty command does nothing; reject it instead" : undefined),
  });
  if (command === undefined) {
    return;
  }
  if (approval.request.digest === digest) {
    answer(bench, [approval.id], { kind: "amend", command });
  } else {
    void window.showInformationMessage("It was updated while you wrote; look again.");
  }
}

async function answerTogether(bench: Workbench): Promise<void> {
  const items = bench.approvals.all.map((approval) => ({
    label: short(deed(approval.request), 120),
    description: visible(approval.request.agent.name),
    picked: true,
    id: approval.id,
  }));
  const chosen = await window.showQuickPick(items, { title: "Answer together: which ones?", canPickMany: true, ignoreFocusOut: true });
  if (!chosen || chosen.length === 0) {
    return;
  }
  const ids = chosen.map((item) => item.id);
  const choices = [
    { label: "$(close) Reject", answer: "reject" },
    { label: "$(check) Approve", answer: "approve" },
    { label: "$(debug-stop) Cancel", answer: "cancel" },
  ] satisfies { label: string; answer: Choice["kind"] }[];
  const choice = await window.showQuickPick(choices, { title: `All ${String(ids.length)} of them:` });
  if (choice) {
    answer(bench, ids, { kind: choice.answer });
  }
}

async function show({ front }: Workbench, target: unknown, path: unknown): Promise<void> {
  const entry = typeof target === "object" && target !== null && "approval" in target ? (target as Entry & { kind: "approval" }) : undefined;
  const id = entry ? entry.approval.id : String(target);
  if (!(await front.show(id, typeof path === "string" ? path : undefined))) {
    void window.showInformationMessage("That call waits no longer: it was answered or withdrawn.");
  }
}

/** The first that waits, or the view when nothing does. */
async function showWaiting({ approvals, prompts, front }: Workbench): Promise<void> {
  const [approval] = approvals.all;
  const [prompt] = prompts.all;
  await commands.executeCommand("pillion.waiting.focus");
  if (approval) {
    await front.show(approval.id);
  } else if (prompt) {
    await prompts.pick(prompt.promptId);
  }
}

async function resume({ paused }: Workbench, target: unknown): Promise<void> {
  const entry = target as Entry;
  if (entry.kind === "paused") {
    await paused.resume(entry.session.sessionId);
  }
}

/** So that the command sees them. The sidecar notices and brings the dialog up to date. */
async function saveUnseen({ approvals }: Workbench, uri: unknown): Promise<void> {
  const preview = uri instanceof Uri ? approvals.get(approvalIdOf(uri) ?? "")?.request.preview : undefined;
  const unsaved = new Set(preview?.kind === "command" ? preview.unsaved : []);
  for (const document of workspace.textDocuments) {
    if (document.isDirty && unsaved.has(workspace.asRelativePath(document.uri))) {
      await document.save();
    }
  }
}

/** Has the program set an agent up, in a terminal: there it shows what it would write, and asks. */
async function connectAgent({ session }: Workbench, named: unknown): Promise<void> {
  const placeHolder = "A terminal shows what would be written into its configuration, and asks first";
  const agent = isAgent(named) ? named : await window.showQuickPick(agents, { title: "Connect an agent", placeHolder });
  const located = agent && (await session.locate(true));
  if (!located) {
    return;
  }
  if ("problem" in located) {
    await session.restart(); // which says what is wrong, with the way out
    return;
  }
  const terminal = window.createTerminal({ name: `Pillion: ${agent}` });
  terminal.show();
  terminal.sendText(setUpLine(located.path, agent, process.platform));
}

function promptIdOf(entry: Entry): string {
  return entry.kind === "prompt" ? entry.prompt.promptId : "";
}
