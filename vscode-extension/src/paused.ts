// Keeps what the view knows of paused agents true: the sidecar is asked whenever a call has ended badly, which is how a
// pause begins and shows.

import { Disposable } from "vscode";
import type { Activity } from "./activity";
import { methods, type SessionList, type SessionNewTurn } from "./protocol";
import type { Session } from "./session";

/** Several calls fail in one moment when an agent is paused; one question is enough. */
const settleMs = 100;

export class Paused implements Disposable {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: () => Session,
    private readonly activity: Activity,
    private readonly changed: () => void,
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
  }

  check(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.ask();
    }, settleMs);
  }

  async resume(sessionId: string): Promise<void> {
    await this.session().request(methods.sessionNewTurn, { sessionId } satisfies SessionNewTurn);
    await this.ask();
  }

  private async ask(): Promise<void> {
    if (this.session().state.kind === "ready") {
      const { sessions } = await this.session().request<SessionList>(methods.sessionList, {});
      this.activity.know(sessions ?? []);
      this.changed();
    }
  }
}
