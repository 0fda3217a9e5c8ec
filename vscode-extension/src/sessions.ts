// The agents' sessions as the sidecar has them: which stand still, and what each may do without asking. The sidecar tells
// of calls, not of sessions, so it is asked when a call shows that something may be different, and now and then while
// any session is known: an agent leaves without a word.

import { Disposable } from "vscode";
import { type ActivityChanged, methods, type SessionInfo, type SessionList, type SessionNewTurn, type SessionSetMode } from "./protocol";
import type { SessionPause } from "./session-protocol";
import type { Session } from "./session";

/** Several calls fail in one moment when an agent is paused; one question is enough. */
const settleMs = 100;
const everyMs = 5000;

export class Sessions implements Disposable {
  private known: readonly SessionInfo[] = [];
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  constructor(
    private readonly session: () => Session,
    private readonly changed: () => void,
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
  }

  get all(): readonly SessionInfo[] {
    return this.known;
  }

  get paused(): readonly SessionInfo[] {
    return this.known.filter(({ paused }) => paused);
  }

  /** A pause shows by a call that failed, a new agent by its first call, and a plan that was taken ends plan mode. */
  heard({ state, sessionId, tool }: ActivityChanged): void {
    if (state === "failed" || (state === "done" && tool === "exit_plan_mode") || !this.known.some((known) => known.sessionId === sessionId)) {
      this.lookIn(settleMs);
    }
  }

  async look(): Promise<readonly SessionInfo[]> {
    const { sessions } = await this.session().request<SessionList>(methods.sessionList, {});
    this.know(sessions ?? []);
    return this.known;
  }

  async resume(sessionId: string): Promise<void> {
    await this.session().request(methods.sessionNewTurn, { sessionId } satisfies SessionNewTurn);
    await this.look();
  }

  async pause(sessionId: string, reason?: string): Promise<void> {
    await this.session().request(methods.sessionPause, { sessionId, ...(reason ? { reason } : {}) } satisfies SessionPause);
    await this.look();
  }

  async setMode(sessionId: string, mode: string): Promise<void> {
    await this.session().request(methods.sessionSetMode, { sessionId, mode } satisfies SessionSetMode);
    await this.look();
  }

  /** The sidecar is gone, and every session with it. */
  end(): void {
    clearTimeout(this.timer);
    this.dueAt = Infinity;
    this.known = [];
  }

  private know(sessions: readonly SessionInfo[]): void {
    const before = JSON.stringify(this.known);
    this.known = sessions;
    if (sessions.length > 0) {
      this.lookIn(everyMs);
    }
    if (JSON.stringify(sessions) !== before) {
      this.changed();
    }
  }

  private lookIn(ms: number): void {
    const at = Date.now() + ms;
    if (at < this.dueAt) {
      clearTimeout(this.timer);
      this.dueAt = at;
      this.timer = setTimeout(() => {
        this.dueAt = Infinity;
        if (this.session().state.kind === "ready") {
          this.look().catch(() => undefined); // it stopped meanwhile, which ends them all
        }
      }, ms);
    }
  }
}
