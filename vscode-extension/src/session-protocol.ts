// The wire of what becomes of an agent that behaves suspiciously, and of what a sidecar does by itself: as protocol.ts, of
// which it is a part.

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

/** How it stands with the index by which files are searched. */
export interface WorkspaceIndex {
  /** For the first time. */
  building: boolean;
  percent: number;
  files: number;
  /** Of memory. */
  bytes: number;
}
