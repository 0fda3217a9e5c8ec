// Agents that do something unusual (`session/unusual`): told once in a notification, and kept in the view until the user has
// looked, with what can be done about it. Nothing is done here without a press, and a revert shows first what it would do.

import { short } from "./escape";
import { agentTarget } from "./journal";
import { say } from "./notices";
import type { SessionUnusual } from "./session-protocol";
import type { Reverts } from "./reverts";
import type { Sessions } from "./sessions";

export class Unusual {
  private readonly known = new Map<string, SessionUnusual>();

  constructor(
    private readonly sessions: Sessions,
    private readonly reverts: Reverts,
    private readonly changed: () => void,
  ) {}

  /** The last of each session. */
  get all(): readonly SessionUnusual[] {
    return [...this.known.values()];
  }

  hear(unusual: SessionUnusual): void {
    this.known.set(unusual.sessionId, unusual);
    this.changed();
    void this.announce(unusual);
  }

  async pause(sessionId: string): Promise<void> {
    await this.sessions.pause(sessionId, this.known.get(sessionId)?.message);
  }

  async revert({ sessionId, agent }: SessionUnusual): Promise<void> {
    await this.reverts.preview(agentTarget(sessionId, agent.name));
  }

  dismiss(sessionId: string): void {
    this.known.delete(sessionId);
    this.changed();
  }

  end(): void {
    this.known.clear();
  }

  private async announce(unusual: SessionUnusual): Promise<void> {
    const pause = unusual.acted === "" ? ["Pause"] : [];
    const revert = unusual.acted === "reverted" ? [] : ["Revert Its Changes…"];
    switch (await say.warning(sentence(unusual), ...pause, ...revert, "Dismiss")) {
      case "Pause":
        await this.pause(unusual.sessionId);
        break;
      case "Revert Its Changes…":
        await this.revert(unusual);
        break;
      case "Dismiss":
        this.dismiss(unusual.sessionId);
    }
  }
}

/** What a narrow view has room for, behind the agent's name. */
export const inShort: Record<SessionUnusual["kind"], string> = {
  escape: "tries to leave the workspace",
  mass_deletion: "deletes a lot",
  refusals: "keeps trying after being refused",
};

/** `claude deleted or emptied 42 files within a minute; it was paused`: the message names the agent. */
export function sentence({ message, acted }: SessionUnusual): string {
  const done = { "": "", paused: "; it was paused", reverted: "; it was paused and its changes were reverted" }[acted];
  return `${short(message, 240)}${done}`;
}
