// The wire's messages about calls, as in protocol.ts: shapes alone.

import type { AgentIdentity, DiffPreview, Range } from "./protocol";

export interface ActivityChanged {
  callId: string;
  sessionId: string;
  agent: AgentIdentity;
  tool: string;
  /** What the call does: `Edit app.py`. */
  title: string;
  /** The file that it is about, of several the first. */
  path?: string;
  state: "queued" | "running" | "waiting" | "done" | "failed";
  /** What came of it; empty until it is over. */
  summary: string;
  started: string; // RFC 3339
  durationMs: number;
  /** What `activity/show` has of it; absent where it has nothing. */
  shows?: "diff" | "command" | "markdown";
  /** The first error or warning that it caused. */
  problem?: CausedProblem;
}

export interface CausedProblem {
  path: string;
  range: Range;
  /** As in LSP: 1 is an error. */
  severity: number;
}

export interface ActivityShow {
  callId: string;
  sessionId: string;
}

export interface ActivityShown {
  kind: "diff" | "command" | "markdown";
  text?: string;
  preview?: DiffPreview;
}
