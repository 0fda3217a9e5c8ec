// The to-do lists with what the user has just changed in them. A change is shown at once and made in turn, each of the list
// that the one before it left. When the agent wrote its list meanwhile, its list stays and the user is told so.

import { randomUUID } from "node:crypto";
import { short, visible, withoutIcons } from "./escape";
import { errorText, say } from "./notices";
import type { SessionInfo, Todo } from "./session-protocol";
import type { Look } from "./session-words";
import type { Sessions } from "./sessions";

/** CONTRACT: the content is another one than the request names. */
const modified = -32801;

/** A change that the sidecar has not answered yet. */
interface Pending {
  sessionId: string;
  change: ListChange;
  /** Of the list that it was sent for: a later one has it already, or is the agent's. */
  revision?: number;
}

export class Todos {
  private pending: Pending[] = [];
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly sessions: Sessions,
    private readonly changed: () => void,
  ) {}

  /** What the user sees of a session's list. */
  of({ sessionId, todos, todosRevision }: SessionInfo): readonly Todo[] {
    const changes = this.pending.filter((one) => one.sessionId === sessionId && (one.revision ?? todosRevision) === todosRevision);
    return changes.reduce<readonly Todo[]>((before, { change }) => change(before), todos ?? []);
  }

  /** Those with lists of the agents that are there; when none of them has one, the last that was there and left something to do. */
  get lists(): readonly SessionInfo[] {
    const present = this.sessions.connected.filter((session) => this.of(session).length > 0);
    const left = this.sessions.earlier.find((session) => completed(this.of(session)) < this.of(session).length);
    return present.length > 0 || !left ? present : [left];
  }

  change(sessionId: string, change: ListChange): Promise<void> {
    const one: Pending = { sessionId, change };
    this.pending.push(one);
    this.changed();
    this.work = this.work.then(async () => {
      await this.make(one);
      this.pending = this.pending.filter((other) => other !== one);
      this.changed();
    });
    return this.work;
  }

  private async make(one: Pending): Promise<void> {
    const session = this.sessions.get(one.sessionId);
    const before = session?.todos ?? [];
    const list = one.change(before);
    if (!session || JSON.stringify(list) === JSON.stringify(before)) {
      return; // it ended, and its list with it; or the item was the first already
    }
    one.revision = session.todosRevision;
    try {
      await this.sessions.setTodos(one.sessionId, list, one.revision);
    } catch (error) {
      await this.sessions.look().catch(() => undefined); // it stopped, and says all of it again when it is back
      void say.warning(failure(short(session.agent.name, 40), error));
    }
  }
}

function failure(agent: string, error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === modified) {
    return `${agent} changed its to-do list at the same moment. You see its list now; your change was not made.`;
  }
  return `Pillion: the to-do list was not changed: ${short(errorText(error), 300)}`;
}

export type ListChange = (list: readonly Todo[]) => Todo[];

export function tick(id: string, done: boolean): ListChange {
  return (list) => list.map((todo) => (todo.id === id ? { ...todo, status: done ? "completed" : "pending" } : todo));
}

/** The item has its id at once, so that what is pressed next can be about it before the sidecar has answered. */
export function add(content: string): ListChange {
  const item: Todo = { id: `user-${randomUUID().slice(0, 8)}`, content, status: "pending", priority: "medium" };
  return (list) => [...list, item];
}

export function remove(gone: string): ListChange {
  return (list) => list.filter(({ id }) => id !== gone);
}

/** By so many places, and no further than there are. */
export function moveBy(id: string, places: number): ListChange {
  return (list) => {
    const from = list.findIndex((todo) => todo.id === id);
    return from < 0 ? [...list] : moved(list, from, from + places);
  };
}

/** To where another one is; without one to the end. */
export function moveTo(id: string, target: string | undefined): ListChange {
  return (list) => {
    const [from, to] = [list.findIndex((todo) => todo.id === id), list.findIndex((todo) => todo.id === target)];
    return from < 0 ? [...list] : moved(list, from, to < 0 ? list.length : to);
  };
}

function moved(list: readonly Todo[], from: number, to: number): Todo[] {
  const rest = list.filter((_, index) => index !== from);
  const at = Math.max(0, to);
  return [...rest.slice(0, at), ...list.slice(from, from + 1), ...rest.slice(at)];
}

export function completed(list: readonly Todo[]): number {
  return list.filter(({ status }) => status === "completed").length;
}

/** `2/5 · Fix the clock` */
export function progress(list: readonly Todo[], limit: number): string {
  const now = list.find(({ status }) => status === "in_progress");
  const share = `${String(completed(list))}/${String(list.length)}`;
  return now ? `${share} · ${short(now.content, limit)}` : share;
}

/** A status bar has room for so much of one item. */
const barLimit = 32;

/** Of several agents the one that called last; undefined while nothing is left to do. */
export function progressLook(sessions: readonly SessionInfo[]): Look | undefined {
  const open = sessions.filter(({ todos }) => (todos ?? []).some(({ status }) => status !== "completed"));
  const at = ({ lastCall }: SessionInfo): number => new Date(lastCall ?? 0).getTime();
  const [first] = [...open].sort((one, other) => Number(isAtWork(other)) - Number(isAtWork(one)) || at(other) - at(one));
  if (!first) {
    return undefined;
  }
  const each = open.map(({ agent, todos }) => `${visible(agent.name)}: ${inWords(todos ?? [])}`);
  return { text: `$(checklist) ${withoutIcons(progress(first.todos ?? [], barLimit))}`, tooltip: [...each, "Click to see the to-do list."].join("\n") };
}

function isAtWork({ todos }: SessionInfo): boolean {
  return (todos ?? []).some(({ status }) => status === "in_progress");
}

/** `2 of 5 to-dos done; now: Fix the clock` */
function inWords(list: readonly Todo[]): string {
  const now = list.find(({ status }) => status === "in_progress");
  return `${String(completed(list))} of ${list.length === 1 ? "1 to-do" : `${String(list.length)} to-dos`} done${now ? `; now: ${short(now.content, 200)}` : ""}`;
}
