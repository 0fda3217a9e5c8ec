// Connecting an agent: which there are and how each stands, what would be written for one, on a page, and writing it. The program
// says and does all of it (`pillion mcp install`).

import { execFile } from "node:child_process";
import { ProgressLocation, Uri, window, workspace } from "vscode";
import { connectPage, type InstallPlan } from "./connect-page";
import { say } from "./notices";
import { connect, resourceOf } from "./schemes";
import { isName } from "./set-up";
import type { Handler, Workbench } from "./workbench";

export const connectCommands: Record<string, Handler> = {
  "pillion.connectAgent": connectAgent,
  "pillion.connectNow": connectNow,
};

/** The page that was shown last: what the program printed is what may be written. */
let shown: { program: string; agent: string; printed: string } | undefined;

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
    shown = { program, agent, printed };
    await present(pages, printed);
  }
}

async function choose(program: string): Promise<string | undefined> {
  const agents = JSON.parse((await install(program, "--json")) ?? "[]") as { id: string; name: string; state: string }[];
  const items = agents.map(({ id, name, state }) => ({ label: name, description: states[state] ?? state, id }));
  return (await window.showQuickPick(items, { title: "Connect an agent", placeHolder: "A page shows what would be written into its configuration" }))?.id;
}

/** Exactly what the page showed is written; when it would be something else by now, that is shown. */
async function connectNow({ pages }: Workbench): Promise<void> {
  if (!shown) {
    return;
  }
  const { program, agent, printed } = shown;
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
    await window.tabGroups.close(window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => resourceOf(tab)?.scheme === connect));
    shown = { program, agent, printed: after };
    await present(pages, after);
  }
}

async function present(pages: Workbench["pages"], printed: string): Promise<void> {
  const plan = JSON.parse(printed) as InstallPlan;
  const address = plan.files.length === 0 ? { path: `/${plan.name} Is Connected` } : { authority: "open", path: `/Connect ${plan.name}` };
  await pages.present(Uri.from({ scheme: connect, ...address }), connectPage(plan));
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
  return window.withProgress({ location: ProgressLocation.Window, title: "Pillion is reading the agent's configuration" }, () => run);
}
