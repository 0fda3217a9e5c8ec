// What a user does about an agent that does something unusual, or that should stand still.

import { window } from "vscode";
import { short } from "./escape";
import { say } from "./notices";
import type { SessionUnusual } from "./session-protocol";
import type { Entry } from "./view";
import type { Handler, Workbench } from "./workbench";

export const unusualCommands: Record<string, Handler> = {
  "pillion.pauseAgent": pause,
  "pillion.revertUnusual": ({ changes: { unusual } }, pressed) => about(pressed, (told) => unusual.revert(told)),
  "pillion.dismissUnusual": ({ changes: { unusual } }, pressed) => about(pressed, ({ sessionId }) => {
    unusual.dismiss(sessionId);
  }),
};

function about<T>(pressed: unknown, act: (told: SessionUnusual) => T): T | undefined {
  const entry = pressed as Entry | undefined;
  return entry?.kind === "unusual" ? act(entry.unusual) : undefined;
}

/** From the view's row, or whom the user picks. */
async function pause({ sessions, changes: { unusual } }: Workbench, pressed: unknown): Promise<void> {
  const sessionId = about(pressed, (told) => told.sessionId) ?? (await choose({ sessions }));
  if (sessionId !== undefined) {
    await unusual.pause(sessionId);
  }
}

async function choose({ sessions }: Pick<Workbench, "sessions">): Promise<string | undefined> {
  const working = (await sessions.look()).filter(({ paused }) => !paused);
  if (working.length === 0) {
    void say.information("No agent is connected.");
    return undefined;
  }
  const items = working.map(({ agent, mode, sessionId }) => ({ label: short(agent.name, 40), description: short(mode, 20), sessionId }));
  return (await window.showQuickPick(items, { title: "Pause which agent?", placeHolder: "Its calls are rejected until you resume it" }))?.sessionId;
}
