// What an agent may do without asking can be changed while it works: for its session alone, and until that ends.

import { type QuickPickItem, window } from "vscode";
import { short } from "./escape";
import { fullAccess, labelOf, modes } from "./mode-words";
import { chooseAgent } from "./session-choice";
import type { SessionInfo } from "./session-protocol";
import type { Sessions } from "./sessions";

export async function changeMode(sessions: Sessions, pointedAt?: SessionInfo): Promise<void> {
  const agent = pointedAt ?? (await chooseAgent(sessions.connected, "Which agent?"));
  const mode = agent && (await window.showQuickPick(marked(agent.mode), { title: `What may ${short(agent.agent.name, 40)} do?` }))?.mode;
  if (mode && (mode !== fullAccess || agent.mode === fullAccess || (await confirmed(agent)))) {
    await sessions.setMode(agent.sessionId, mode);
    window.setStatusBarMessage(`$(check) Pillion: ${short(agent.agent.name, 40)} is in mode ${labelOf(mode)}`, 4000);
  }
}

function marked(present: string): (QuickPickItem & { mode: string })[] {
  return modes.map(({ name, icon, label, words }) => {
    const sign = name === present ? "check" : icon;
    return { label: `$(${sign}) ${label}`, description: name === fullAccess ? "asks again" : "", detail: words, mode: name };
  });
}

/** The answer that changes nothing comes first: it is what a stray Enter takes. */
async function confirmed({ agent, mode }: SessionInfo): Promise<boolean> {
  const name = short(agent.name, 40);
  const items = [
    { label: `$(close) No, leave ${name} in mode ${labelOf(mode)}`, yes: false },
    { label: `$(warning) Yes, ${name} may run any command as me`, detail: "Until its session ends or Pillion restarts.", yes: true },
  ];
  const placeHolder = `${name} will change files and run commands without asking`;
  return (await window.showQuickPick(items, { title: "Full access?", placeHolder, ignoreFocusOut: true }))?.yes === true;
}
