// What agents changed, as the sidecar's journal has it: newest first, by agent and turn. Pure; the view draws it, and reverts.ts
// takes things back.

import { short, visible } from "./escape";
import { size } from "./hunks";
import type { JournalEntry, JournalFile, JournalSelector } from "./protocol";

/** All changes of one agent in one of its turns, newest first; or the reverts, which belong to no session. */
export interface Turn {
  sessionId: string;
  agent: string;
  turn: number;
  /** How the prompt begins that it came of, if an agent's hook told. */
  prompt?: string | undefined;
  entries: readonly JournalEntry[];
}

export class Journal {
  entries: readonly JournalEntry[] = [];

  /** Newest first; a turn has the place of its newest change. */
  get turns(): readonly Turn[] {
    const turns = new Map<string, Turn & { entries: JournalEntry[] }>();
    for (const entry of this.entries) {
      const key = `${entry.sessionId}\n${String(entry.turn)}`;
      const turn = turns.get(key) ?? { sessionId: entry.sessionId, agent: entry.agent.name, turn: entry.turn, entries: [] };
      turn.prompt ??= entry.prompt;
      turn.entries.push(entry);
      turns.set(key, turn);
    }
    return [...turns.values()];
  }

  /** An entry keeps its place while its state changes. */
  hear(entry: JournalEntry): void {
    const known = this.entries.some(({ id }) => id === entry.id);
    this.entries = known ? this.entries.map((other) => (other.id === entry.id ? entry : other)) : [entry, ...this.entries];
  }

  find(callId: string): JournalEntry | undefined {
    return this.entries.find((entry) => entry.callId === callId);
  }

  /** The newest change of this call that can be taken back. */
  revertible(callId: string): JournalEntry | undefined {
    return callId === "" ? undefined : this.entries.find((entry) => entry.callId === callId && isRevertible(entry));
  }

  end(): void {
    this.entries = [];
  }
}

/** Whether it is a revert, which the user made, or their setting `unusual`. */
export function isRevert({ sessionId }: Pick<JournalEntry, "sessionId">): boolean {
  return sessionId === "";
}

export function isRevertible({ state }: Pick<JournalEntry, "state">): boolean {
  return state === "done" || state === "partly_reverted" || state === "interrupted";
}

/** What is to be taken back, and how the user knows it. */
export interface Target {
  selector: JournalSelector;
  /** `Edit app.py by claude-code`, `all that claude-code changed in turn 2`. */
  name: string;
}

export function changeTarget(entry: Pick<JournalEntry, "callId" | "title" | "tool" | "agent" | "sessionId" | "paths">): Target {
  const { callId, title, tool, agent, paths } = entry;
  const whose = agent.via === "setting" ? "Pillion’s" : "your";
  const name = isRevert(entry) ? `${whose} revert of ${short((paths ?? []).join(", "), 80)}` : `“${visible(title || tool)}” by ${visible(agent.name)}`;
  return { selector: { callId }, name };
}

type WhichTurn = Pick<Turn, "sessionId" | "turn" | "agent" | "prompt">;

export function turnTarget(which: WhichTurn): Target {
  const { sessionId, turn, agent } = which;
  return { selector: { sessionId, turn }, name: `everything that ${visible(agent)} changed in turn ${String(turn)}${quoted(which)}` };
}

/** The files become as they were before this turn. */
export function sinceTarget(which: WhichTurn): Target {
  const { sessionId, turn, agent } = which;
  return { selector: { sessionId, sinceTurn: turn }, name: `everything that ${visible(agent)} changed from turn ${String(turn)} on${quoted(which)}` };
}

function quoted({ prompt }: WhichTurn): string {
  return prompt ? ` (“${short(prompt, 70)}”)` : "";
}

export function agentTarget(sessionId: string, agent: string): Target {
  return { selector: { sessionId }, name: `everything that ${visible(agent)} changed` };
}

/** What became of a change that is not simply done. */
export const stateWords: Record<JournalEntry["state"], string> = {
  done: "",
  undone: "failed and undone",
  interrupted: "interrupted by a crash",
  reverted: "reverted",
  partly_reverted: "partly reverted",
};

/** `+3 −1` over all files; nothing where no line is counted, as of a move. */
export function counts(files: readonly JournalFile[]): string {
  return files.every(({ additions, deletions }) => additions + deletions === 0) ? "" : size(files);
}

/** What else comes of changes that still stand: `Makefile runs when you next use make`. */
export function notes(entries: readonly Pick<JournalEntry, "state" | "files">[]): readonly string[] {
  const files = entries.filter(isRevertible).flatMap((entry) => entry.files ?? []);
  return [...new Set(files.flatMap(({ path, to, note }) => (note ? [`${short(to ?? path, 60)} ${short(note, 80)}`] : [])))];
}

/** `14:05` today, else with the day. */
export function when(time: string, now: Date): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) {
    return "";
  }
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const day = `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.toDateString() === now.toDateString() ? clock : `${day} ${clock}`;
}
