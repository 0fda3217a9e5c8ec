// The to-do lists with what the user has just changed in them. A change is shown at once and made in turn, each of the list
// that the one before it left. When the agent wrote its list meanwhile, its list stays and the user is told so.

import { short } from "./escape";
import { say } from "./notices";
import type { SessionInfo, Todo } from "./session-protocol";
import type { Sessions } from "./sessions";
import { completed, type ListChange } from "./todo-list";

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
  return `Pillion: the to-do list was not changed: ${short(error instanceof Error ? error.message : String(error), 300)}`;
}
