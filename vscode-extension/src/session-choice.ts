// Which agent the user means, of those that are connected.

import { window } from "vscode";
import { short, withoutIcons } from "./escape";
import { say } from "./notices";
import type { SessionInfo } from "./session-protocol";

/** The only one is meant without a word. */
export async function chooseAgent(sessions: readonly SessionInfo[], title: string, placeHolder?: string): Promise<SessionInfo | undefined> {
  if (sessions.length === 0) {
    void say.information("No agent is connected. Connect one with Pillion: Connect an Agent…");
  }
  if (sessions.length <= 1) {
    return sessions[0];
  }
  const items = sessions.map((session) => ({ label: withoutIcons(short(session.agent.name, 40)), description: short(session.mode, 20), session }));
  return (await window.showQuickPick(items, { title, ...(placeHolder === undefined ? {} : { placeHolder }) }))?.session;
}
