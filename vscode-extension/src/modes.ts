// What an agent may do without asking can be changed while it works: for its session alone, and until that ends.

import { window } from "vscode";
import { short, visible } from "./escape";
import { methods, type SessionInfo, type SessionList, type SessionSetMode } from "./protocol";
import type { Session } from "./session";

const modes = [
  { label: "plan", detail: "It may read and nothing else." },
  { label: "default", detail: "It reads without asking, and asks before it changes or runs anything." },
  { label: "auto_edit", detail: "Edits inside the workspace need no asking; commands still ask." },
  { label: "full_access", detail: "Only protected paths, and what your own rules name, still ask. Commands run as you." },
] as const;

export async function changeMode(session: Session): Promise<void> {
  const { sessions } = await session.request<SessionList>(methods.sessionList, {});
  if (!sessions || sessions.length === 0) {
    void window.showInformationMessage("No agent is connected. Connect one with Pillion: Connect an Agent…");
    return;
  }
  const agent = await chooseAgent(sessions);
  const mode = agent && (await window.showQuickPick(marked(agent.mode), { title: `What may ${short(agent.agent.name, 40)} do?` }));
  if (mode) {
    await session.request(methods.sessionSetMode, { sessionId: agent.sessionId, mode: mode.mode } satisfies SessionSetMode);
    window.setStatusBarMessage(`$(check) Pillion: ${short(agent.agent.name, 40)} is in mode ${mode.mode}`, 4000);
  }
}

async function chooseAgent(sessions: readonly SessionInfo[]): Promise<SessionInfo | undefined> {
  if (sessions.length === 1) {
    return sessions[0];
  }
  const items = sessions.map((info) => ({ label: visible(info.agent.name), description: info.mode, info }));
  return (await window.showQuickPick(items, { title: "Which agent?" }))?.info;
}

function marked(present: string): { label: string; detail: string; mode: string }[] {
  return modes.map(({ label, detail }) => ({ label: label === present ? `$(check) ${label}` : label, detail, mode: label }));
}
