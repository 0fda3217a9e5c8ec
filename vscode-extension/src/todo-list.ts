// What can be done to a to-do list, and how far it is, in words. Pure: todos.ts sends it, todo-view.ts and status-bar.ts show it.

import { randomUUID } from "node:crypto";
import { short, visible, withoutIcons } from "./escape";
import type { SessionInfo, Todo } from "./session-protocol";

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

export interface ProgressLook {
  text: string;
  tooltip: string;
}

/** A status bar has room for so much of one item. */
const barLimit = 32;

/** Of several agents the one that called last; undefined while nothing is left to do. */
export function progressLook(sessions: readonly SessionInfo[]): ProgressLook | undefined {
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
