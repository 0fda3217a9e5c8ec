// The agents' sessions as the sidecar has them: what each did, what it may do without asking, and its to-do list. All of them
// are asked for once; from then on the sidecar reports each that changes.

import { methods } from "./protocol";
import type {
  SessionChanged,
  SessionClose,
  SessionInfo,
  SessionList,
  SessionNewTurn,
  SessionPause,
  SessionRevoke,
  SessionSetMode,
  SessionTodos,
  Todo,
} from "./session-protocol";
import type { Session } from "./session";

export class Sessions {
  private readonly known = new Map<string, SessionInfo>();

  constructor(
    private readonly session: () => Session,
    private readonly changed: () => void,
  ) {}

  /** In the order in which they began. */
  get all(): readonly SessionInfo[] {
    return [...this.known.values()];
  }

  /** Those whose agents are there. */
  get connected(): readonly SessionInfo[] {
    return this.all.filter(({ connected }) => connected);
  }

  /** Those whose agents are not, the one that was there last first. */
  get earlier(): readonly SessionInfo[] {
    const seen = ({ lastCall, started }: SessionInfo): number => new Date(lastCall ?? started).getTime();
    return this.all.filter(({ connected }) => !connected).sort((one, other) => seen(other) - seen(one));
  }

  get paused(): readonly SessionInfo[] {
    return this.connected.filter(({ paused }) => paused);
  }

  get(sessionId: string): SessionInfo | undefined {
    return this.known.get(sessionId);
  }

  hear({ session, ended }: SessionChanged): void {
    if (ended === true) {
      this.known.delete(session.sessionId);
    } else {
      this.known.set(session.sessionId, session);
    }
    this.changed();
  }

  async look(): Promise<void> {
    const { sessions } = await this.session().request<SessionList>(methods.sessionList, {});
    this.known.clear();
    (sessions ?? []).forEach((session) => this.known.set(session.sessionId, session));
    this.changed();
  }

  lookSoon(): void {
    if (this.session().state.kind === "ready") {
      this.look().catch(() => undefined); // it stopped meanwhile, and says all of it again when it is back
    }
  }

  async resume(sessionId: string): Promise<void> {
    this.hear({ session: await this.session().request(methods.sessionNewTurn, { sessionId } satisfies SessionNewTurn) });
  }

  async pause(sessionId: string, reason?: string): Promise<void> {
    this.hear({ session: await this.session().request(methods.sessionPause, { sessionId, ...(reason ? { reason } : {}) } satisfies SessionPause) });
  }

  async setMode(sessionId: string, mode: string): Promise<void> {
    this.hear({ session: await this.session().request(methods.sessionSetMode, { sessionId, mode } satisfies SessionSetMode) });
  }

  /** A rule that the user approved for this session is asked about again. */
  async revoke(sessionId: string, rule: string): Promise<void> {
    this.hear({ session: await this.session().request(methods.sessionRevoke, { sessionId, rule } satisfies SessionRevoke) });
  }

  /** Refused by the sidecar when the list is another one than that revision. */
  async setTodos(sessionId: string, todos: Todo[], revision: number): Promise<void> {
    this.hear({ session: await this.session().request(methods.sessionTodos, { sessionId, todos, revision } satisfies SessionTodos) });
  }

  /** Ends it, with all that belongs to it. */
  async close(sessionId: string): Promise<void> {
    await this.session().request(methods.sessionClose, { sessionId } satisfies SessionClose);
    this.known.delete(sessionId);
    this.changed();
  }

  /** The sidecar is gone, and says all of it again when it is back. */
  end(): void {
    this.known.clear();
  }
}
