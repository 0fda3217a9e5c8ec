// Every command, in one table.

import { commands, type Disposable, Uri, window } from "vscode";
import { activityCommands } from "./activity-view";
import { answers } from "./answers";
import { connectCommands, connectLinks } from "./connect";
import { conversationCommands } from "./conversation-view";
import { examine } from "./doctor";
import { short } from "./escape";
import { journalCommands } from "./journal-commands";
import { announce, errorText, say } from "./notices";
import type { Pages } from "./pages";
import { processCommands } from "./process-commands";
import { methods } from "./protocol";
import { messageOf, wordsPage } from "./request-page";
import { address, question, resourceOf, tools, trustedPathOf } from "./schemes";
import type { Session } from "./session";
import { sessionCommands } from "./session-commands";
import { Sheet } from "./sheet";
import type { Entry } from "./view";
import { getStarted } from "./walkthrough";
import type { Handler, Workbench } from "./workbench";

const table: Record<string, Handler> = {
  ...activityCommands,
  ...answers,
  ...processCommands,
  ...journalCommands,
  ...sessionCommands,
  ...conversationCommands,
  ...connectCommands,
  "pillion.show": show,
  "pillion.showWaiting": showWaiting,
  "pillion.answerPrompt": (bench, target) => bench.prompts.pick(typeof target === "string" ? target : promptIdOf(target as Entry), bench.pages),
  "pillion.trust": ({ trust }, pressed) => trust.trust(settingsAt(pressed)),
  "pillion.ignoreRules": ({ trust }, pressed) => trust.ignore(settingsAt(pressed)),
  "pillion.showUntrusted": ({ trust, rules }, path) => trust.show(rules.untrusted(typeof path === "string" ? path : undefined)),
  "pillion.restart": (bench) => bench.session.restart(),
  "pillion.stop": (bench) => bench.session.stop(),
  "pillion.showLog": (bench) => bench.log.show(),
  "pillion.explainFailure": (bench) => explainFailure(bench),
  "pillion.doctor": (bench) => examine(bench),
  "pillion.readMessage": readMessage,
  "pillion.showTools": (bench) => showTools(bench),
  "pillion.getStarted": getStarted,
};

export function registerCommands(bench: Workbench): Disposable[] {
  const all = Object.entries(table).map(([id, handler]) => commands.registerCommand(id, (...args: unknown[]) => handler(bench, ...args)));
  return [...all, connectLinks()];
}

/** Says that the sidecar failed, for as long as it has: what to do about it is behind the link, and behind the status bar. */
export function watchFailures(session: Session): Disposable {
  let mended: (() => void) | undefined;
  return session.onDidChangeState((state) => {
    mended?.();
    if (state.kind === "failed") {
      void announce(`Pillion: ${state.problem}`, { title: "What to Do…", command: "pillion.explainFailure", id: "" }, new Promise<void>((resolve) => (mended = resolve)));
    }
  });
}

/** What went wrong with the sidecar, with the way out: in a list, which does not outlive it as a message would. */
async function explainFailure({ session, log }: Pick<Workbench, "session" | "log">): Promise<void> {
  const { state } = session;
  if (state.kind !== "failed") {
    return;
  }
  const actions = state.missing ? ["Open Setting", "Try Again"] : ["Restart", "Show Output"];
  switch (await window.showQuickPick(actions, { title: "Pillion does not run", placeHolder: state.problem })) {
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

async function show({ front }: Workbench, target: unknown, path: unknown, hunkId: unknown): Promise<void> {
  const entry = typeof target === "object" && target !== null && "approval" in target ? (target as Entry & { kind: "approval" }) : undefined;
  const id = entry ? entry.approval.id : String(target);
  const [file, hunk] = [path, hunkId].map((name) => (typeof name === "string" ? name : undefined));
  if (!(await front.show(id, file, hunk))) {
    void say.information("That request is no longer waiting: it was answered or withdrawn.");
  }
}

async function readMessage({ approvals, pages }: Workbench, id: unknown): Promise<void> {
  const approval = approvals.get(String(id));
  if (approval) {
    const title = `${short(approval.request.agent.name, 40)} says`;
    await pages.present(address(question, approval.id, title), wordsPage(title, messageOf(approval)));
  }
}

/** The first that waits, or the view when nothing does. */
async function showWaiting({ approvals, prompts, front, pages }: Workbench): Promise<void> {
  const [approval] = approvals.all;
  const [prompt] = prompts.all;
  if (approval) {
    await front.show(approval.id);
  } else if (prompt) {
    await prompts.pick(prompt.promptId, pages);
  } else {
    await commands.executeCommand("pillion.waiting.focus");
  }
}

/** The file whose page the button stands on, or that is in front. */
function settingsAt(pressed: unknown): string {
  return trustedPathOf(pressed instanceof Uri ? pressed : resourceOf(window.tabGroups.activeTabGroup.activeTab)) ?? "";
}

function promptIdOf(entry: Entry): string {
  return entry.kind === "prompt" ? entry.prompt.promptId : "";
}

async function showTools({ session, pages }: { session: Session; pages: Pages }): Promise<void> {
  let text: string;
  try {
    ({ text } = await session.request<{ text: string }>(methods.toolsList, { format: "page", refresh: true }));
  } catch (error) {
    void say.error(`Pillion: the tools cannot be listed: ${errorText(error)}`);
    return;
  }
  const sheet = new Sheet();
  for (const line of text.trimEnd().split("\n")) {
    sheet.line(line, line === "" || line.startsWith(" ") ? undefined : "choice");
  }
  await pages.present(Uri.from({ scheme: tools, path: "/Pillion Tools" }), sheet.page());
}
