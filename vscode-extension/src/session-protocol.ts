// The wire of what becomes of an agent that behaves suspiciously: as protocol.ts, of which it is a part.

import type { AgentIdentity } from "./protocol";

export interface SessionUnusual {
  sessionId: string;
  agent: AgentIdentity;
  kind: "escape" | "mass_deletion" | "refusals";
  message: string;
  /** What the sidecar did about it by itself. */
  acted: "" | "paused" | "reverted";
}

export interface SessionPause {
  sessionId: string;
  reason?: string;
}
