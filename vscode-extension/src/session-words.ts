// In words: what a session did and how it stands, what it may do without asking, and how large the index is by which the sidecar searches.
// Pure.

import { short, visible, withoutIcons } from "./escape";
import { when } from "./journal";
import { bytes } from "./process-screen";
import type { DraftFile, DraftInfo, SessionInfo, WorkspaceIndex } from "./session-protocol";

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

interface Mode {
  name: string;
  icon: string;
  /** What it is called; its name is the setting's. */
  label: string;
  words: string;
}

export const fullAccess = "full_access";

/** From the strictest to the freest. */
export const modes: readonly Mode[] = [
  { name: "plan", icon: "eye", label: "Plan", words: "It only reads." },
  { name: "draft", icon: "git-pull-request-draft", label: "Draft", words: "It edits and runs commands on a draft that nobody else sees, and you review it once." },
  { name: "default", icon: "shield", label: "Ask", words: "It reads without asking, and asks before it changes or runs anything." },
  { name: "auto_edit", icon: "edit", label: "Edit Automatically", words: "Edits in the workspace run without asking. Commands ask." },
  { name: "auto", icon: "rocket", label: "Auto", words: "Edits run without asking, and so do commands that the sandbox holds. Where it cannot hold them, commands ask." },
  { name: fullAccess, icon: "warning", label: "Full Access", words: "Only protected paths, and what your own rules name, still ask. Commands run as you." },
];

/** Of several agents the one that may do most. */
export function freest(sessions: readonly SessionInfo[]): SessionInfo | undefined {
  const rank = ({ mode }: SessionInfo): number => modes.findIndex(({ name }) => name === mode);
  return sessions.reduce<SessionInfo | undefined>((most, session) => (most && rank(most) >= rank(session) ? most : session), undefined);
}

/** Of an item in the status bar. */
export interface Look {
  text: string;
  tooltip: string;
  background?: "warning" | "error";
}

/** Undefined while no agent is there. */
export function modeLook(sessions: readonly SessionInfo[]): Look | undefined {
  const most = freest(sessions);
  if (!most) {
    return undefined;
  }
  const warns = most.mode === fullAccess;
  const text = warns ? `$(warning) Full Access: ${withoutIcons(short(most.agent.name, 30))}` : `$(${modeOf(most.mode)?.icon ?? "shield"}) ${labelOf(most.mode)}`;
  const each = sessions.map(({ agent, mode }) => `${short(agent.name, 40)} is in mode ${labelOf(mode)}. ${modeOf(mode)?.words ?? ""}`.trim());
  return { text, tooltip: [...each, "Click to change it for this session."].join("\n"), ...(warns ? { background: "warning" } : {}) };
}

/** `Draft: 3 files, +4 −1, 12 kB` */
export function draftWords({ files, bytes: size }: DraftInfo): string {
  const sum = (pick: (file: DraftFile) => number): string => String(files.reduce((total, file) => total + pick(file), 0));
  return `Draft: ${count(files.length, "file")}, +${sum(({ added }) => added)} −${sum(({ removed }) => removed)}, ${bytes(size)}`;
}

/** What there is to say of one of its files. */
export function draftFileWords({ path, added, removed, ignored, protected: guarded }: DraftFile): string {
  return [visible(path.split("/").slice(0, -1).join("/")), `+${String(added)} −${String(removed)}`, ignored ? "ignored by git" : "", guarded ? "protected" : ""].filter(Boolean).join(" · ");
}

export function labelOf(name: string): string {
  return modeOf(name)?.label ?? short(name, 20);
}

function modeOf(name: string): Mode | undefined {
  return modes.find((mode) => mode.name === name);
}

/** What follows the item's text. */
export function indexText(index: WorkspaceIndex | undefined): string {
  return index?.building ? ` (indexing ${String(index.percent)} %)` : "";
}

export function indexNote(index: WorkspaceIndex | undefined): string {
  if (index?.building) {
    return "The search index of this project is being built; searches are slower until then";
  }
  if (!index?.files) {
    return "";
  }
  const megabytes = Math.ceil(index.bytes / 2 ** 20);
  return `Search index: ${index.files.toLocaleString("en")} ${index.files === 1 ? "file" : "files"}, ${String(megabytes)} MB of memory`;
}
