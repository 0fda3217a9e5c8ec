// What a user does about an agent that does something unusual, or that should stand still.

import { chooseAgent } from "./session-choice";
import { pointedAt } from "./session-commands";
import type { SessionUnusual } from "./session-protocol";
import type { Entry } from "./view";
import type { Handler, Workbench } from "./workbench";

export const unusualCommands: Record<string, Handler> = {
  "pillion.pauseAgent": pause,
  "pillion.pauseAgentInView": pause,
  "pillion.revertUnusual": ({ changes: { unusual } }, pressed) => about(pressed, (told) => unusual.revert(told)),
  "pillion.dismissUnusual": ({ changes: { unusual } }, pressed) => about(pressed, ({ sessionId }) => {
    unusual.dismiss(sessionId);
  }),
};

function about<T>(pressed: unknown, act: (told: SessionUnusual) => T): T | undefined {
  const entry = pressed as Entry | undefined;
  return entry?.kind === "unusual" ? act(entry.unusual) : undefined;
}

/** From a row of a view, or whom the user picks. */
async function pause({ sessions, changes: { unusual } }: Workbench, pressed: unknown): Promise<void> {
  const working = sessions.connected.filter(({ paused }) => !paused);
  const placeHolder = "Its calls are rejected until you resume it";
  const sessionId = about(pressed, (told) => told.sessionId) ?? (pointedAt(pressed) ?? (await chooseAgent(working, "Pause which agent?", placeHolder)))?.sessionId;
  if (sessionId !== undefined) {
    await unusual.pause(sessionId);
  }
}
