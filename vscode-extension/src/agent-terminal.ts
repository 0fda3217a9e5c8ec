// An agent's own program in a terminal of VS Code, and what is put into its prompt. It is never sent there: the user does that.

import { type Terminal, window, workspace } from "vscode";
import { pasted, visible } from "./escape";
import { say } from "./notices";
import { isName } from "./agent-name";
import type { Handler, Workbench } from "./workbench";

export const agentTerminalCommands: Record<string, Handler> = {
  "pillion.startAgent": startAgent,
  "pillion.sendSelection": sendSelection,
};

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

/** The selected lines, or the file's name. As pasted text, lines end no prompt. */
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
