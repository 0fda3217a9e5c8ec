// Agents: which there are and how each stands, what connecting one would write, on a page, and writing it, which the program says and
// does (`pillion mcp install`); and an agent's own program in a terminal.

import { execFile } from "node:child_process";
import { CodeLens, type Disposable, languages, ProgressLocation, Range, type Terminal, Uri, window, workspace } from "vscode";
import { pasted, visible } from "./escape";
import { say } from "./notices";
import { connect, resourceOf, tabsWith } from "./schemes";
import { type Page, Sheet } from "./sheet";
import type { Handler, Workbench } from "./workbench";

export const connectCommands: Record<string, Handler> = {
  "pillion.connectAgent": connectAgent,
  "pillion.connectNow": connectNow,
  "pillion.startAgent": startAgent,
  "pillion.sendSelection": sendSelection,
};

/** By page, what the program printed: that alone is what Connect there writes. */
const shown = new Map<string, { program: string; agent: string; printed: string }>();

const states: Record<string, string> = { connected: "connected", installed: "installed, not connected", missing: "not found on this machine" };

async function connectAgent({ session, pages }: Workbench, named: unknown): Promise<void> {
  const located = await session.locate(true);
  if ("problem" in located) {
    await session.restart(); // which says what is wrong, with the way out
    return;
  }
  const program = located.path;
  const agent = isName(named) ? named : await choose(program);
  const printed = agent === undefined ? undefined : await install(program, "--json", agent);
  if (agent !== undefined && printed !== undefined) {
    await present(pages, { program, agent, printed });
  }
}

async function choose(program: string): Promise<string | undefined> {
  const agents = JSON.parse((await install(program, "--json")) ?? "[]") as { id: string; name: string; state: string }[];
  const items = agents.map(({ id, name, state }) => ({ label: name, description: states[state] ?? state, id }));
  return (await window.showQuickPick(items, { title: "Connect an agent", placeHolder: "A page shows what would be written into its configuration" }))?.id;
}

/** Exactly what this page shows is written; when it would be something else by now, that is shown. */
async function connectNow({ pages }: Workbench, pressed: unknown): Promise<void> {
  const uri = pressed instanceof Uri ? pressed : resourceOf(window.tabGroups.activeTabGroup.activeTab);
  const page = shown.get(uri?.toString() ?? "");
  if (!page) {
    void say.information("This page is of an earlier window. Connect an Agent… shows it again.");
    return;
  }
  const { program, agent, printed } = page;
  const now = await install(program, "--json", agent);
  if (now === undefined) {
    return;
  }
  if (now !== printed) {
    void say.warning("What would be written has changed. Read it again.");
  } else if ((await install(program, "--yes", agent)) === undefined) {
    return;
  }
  const after = await install(program, "--json", agent);
  if (after !== undefined) {
    await window.tabGroups.close(tabsWith((open) => open.toString() === uri?.toString()));
    await present(pages, { program, agent, printed: after });
  }
}

async function present(pages: Workbench["pages"], page: { program: string; agent: string; printed: string }): Promise<void> {
  const plan = JSON.parse(page.printed) as InstallPlan;
  const isDone = plan.files.length === 0;
  const uri = Uri.from({ scheme: connect, ...(isDone ? { path: `/${plan.name} Is Connected` } : { authority: "open", path: `/Connect ${plan.name}` }) });
  if (!isDone) {
    shown.set(uri.toString(), page);
  }
  await pages.present(uri, connectPage(plan));
}

/** The link on top of a page. */
export function connectLinks(): Disposable {
  return languages.registerCodeLensProvider({ scheme: connect }, {
    provideCodeLenses: ({ uri }) => shown.has(uri.toString()) ? [new CodeLens(new Range(0, 0, 0, 0), { title: "$(plug)\u00a0Connect", command: "pillion.connectNow", arguments: [uri] })] : [],
  });
}

/** What it prints; nothing when it failed, which it says. */
async function install(program: string, ...args: string[]): Promise<string | undefined> {
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const run = new Promise<string | undefined>((done) => {
    execFile(program, ["mcp", "install", ...args], { ...(cwd === undefined ? {} : { cwd }), windowsHide: true, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) {
        void say.error(`Pillion: ${stderr.trim() || error.message}`);
      }
      done(error ? undefined : stdout);
    });
  });
  return window.withProgress({ location: ProgressLocation.Window, title: "Pillion: the agent's configuration" }, () => run);
}

let last: Terminal | undefined;

/** In the workspace's folder, where it finds this window; the program's name is the agent's id. */
async function startAgent({ session }: Workbench): Promise<void> {
  const items = session.agents.filter(({ id }) => isName(id)).map(({ id, name }) => ({ label: name, id }));
  const agent = await window.showQuickPick(items, { title: "Start an agent", placeHolder: "Its program runs in a terminal" });
  if (!agent) {
    return;
  }
  const shown = window.terminals.find(({ name, exitStatus }) => name === agent.label && !exitStatus);
  const [folder] = workspace.workspaceFolders ?? [];
  last = shown ?? window.createTerminal({ name: agent.label, ...(folder ? { cwd: folder.uri } : {}) });
  last.show();
  if (!shown) {
    last.sendText(agent.id);
  }
}

/** The selected lines, or the file's name. As pasted text, lines end no prompt: the user sends it. */
function sendSelection(): void {
  const editor = window.activeTextEditor;
  if (!last || last.exitStatus) {
    void say.information("Start an agent first, with Pillion: Start an Agent…");
    return;
  }
  if (editor?.document.uri.scheme !== "file") {
    void say.information("This is no file. Go to the file that you want to send.");
    return;
  }
  const { document, selection } = editor;
  const path = workspace.asRelativePath(document.uri, false);
  last.show();
  if (selection.isEmpty) {
    last.sendText(`@${visible(path)} `, false);
    return;
  }
  const text = `${path}:${String(selection.start.line + 1)}-${String(selection.end.line + 1)}\n\`\`\`${document.languageId}\n${document.getText(selection)}\n\`\`\``;
  last.sendText(pasted(text), false);
}

/** `pillion mcp install --json AGENT` */
interface InstallPlan {
  agent: string;
  name: string;
  files: { path: string; what?: string; why: string[]; diff?: string }[];
  notes: string[];
}

export function connectPage({ name, files, notes }: InstallPlan): Page {
  const sheet = new Sheet();
  if (files.length === 0) {
    sheet.line(`${visible(name)} is connected`, "heading");
  } else {
    sheet.line(`Connect ${visible(name)}: this would be written`, "heading");
    sheet.gap();
    sheet.answer("Connect", files.length === 1 ? "writes this file" : `writes these ${String(files.length)} files`);
    sheet.answer("Close this tab", "nothing is written");
  }
  for (const { path, what, why, diff } of files) {
    sheet.gap();
    sheet.line(`${visible(path)}${what === undefined ? "" : `, ${what}`}`, "choice");
    why.forEach((line) => { sheet.line(`  • ${visible(line)}`); });
    if (diff) {
      sheet.gap();
      sheet.diff(diff, Infinity);
    }
  }
  notes.forEach((note) => {
    sheet.gap();
    sheet.line(visible(note));
  });
  return sheet.page();
}

/** Whether it can be a name that `pillion mcp install` takes: nothing in it means anything to a shell. */
export function isName(agent: unknown): agent is string {
  return typeof agent === "string" && /^[a-z]+$/.test(agent);
}
