// What a session did and how it stands, in words. Pure: session-view.ts draws it.

import { visible } from "./escape";
import { when } from "./journal";
import { labelOf, modeOf } from "./mode-words";
import type { SessionInfo } from "./session-protocol";

export type Standing = "connected" | "waiting" | "paused" | "gone";

export function standing({ connected, paused }: SessionInfo, waits: boolean): Standing {
  if (!connected) {
    return "gone";
  }
  return paused ? "paused" : waits ? "waiting" : "connected";
}

export const standingWords: Record<Standing, string> = { connected: "", waiting: "waiting for you", paused: "paused", gone: "not connected" };

/** `12 calls, 3 changes, 1 rejected`: what there is none of is left out. */
export function counts({ calls, changes, rejected, refused }: SessionInfo): string {
  const parts = [count(changes, "change"), rejected > 0 ? `${String(rejected)} rejected` : "", refused > 0 ? `${String(refused)} refused` : ""];
  return calls === 0 ? "no calls yet" : [count(calls, "call"), ...parts].filter(Boolean).join(", ");
}

function count(number: number, noun: string): string {
  return number === 0 ? "" : `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** `paused · Ask · 12 calls, 3 changes · since 14:05` */
export function describe(session: SessionInfo, how: Standing, now: Date): string {
  const mode = how === "gone" ? "" : labelOf(session.mode);
  return [how === "gone" ? "" : standingWords[how], mode, counts(session), span(session, now)].filter(Boolean).join(" · ");
}

/** An agent that is not there was last seen when it called. */
function span({ connected, started, lastCall }: SessionInfo, now: Date): string {
  const time = when(connected ? started : (lastCall ?? started), now);
  return time && `${connected ? "since" : "last seen"} ${time}`;
}

/** All that is known, a line each. */
export function details(session: SessionInfo, how: Standing, now: Date): string[] {
  const { agent, mode, paused, pauseReason, parent } = session;
  return [
    [visible(agent.name), parent === undefined ? "" : "a sub-agent", standingWords[how]].filter(Boolean).join(", "),
    `Mode ${labelOf(mode)}: ${modeOf(mode)?.words ?? ""}`.trim(),
    paused ? `Paused: ${visible(pauseReason ?? "") || "its calls are rejected until you resume it"}` : "",
    [counts(session), span(session, now)].filter(Boolean).join(", "),
  ].filter(Boolean);
}
