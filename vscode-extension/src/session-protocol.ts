// The wire of agents' sessions, and of what a sidecar does by itself: as protocol.ts, of which it is a part.

import type { AgentIdentity, SettingsUntrusted } from "./protocol";

export interface SessionList {
  sessions: SessionInfo[] | null;
}

/** What is known of one agent. It outlives the agent's connection, and the sidecar. */
export interface SessionInfo {
  sessionId: string;
  agent: AgentIdentity;
  mode: string;
  paused: boolean;
  pauseReason?: string;
  connected: boolean;
  started: string; // RFC 3339
  lastCall?: string; // RFC 3339
  calls: number;
  changes: number;
  rejected: number;
  refused: number;
  /** Rules remembered for this session, as they are written. */
  grants: string[] | null;
  todos: Todo[] | null;
  /** Of the list: a change of it names the one that it is of. */
  todosRevision: number;
  /** The session whose sub-agent this is. */
  parent?: string;
}

export interface DraftList {
  drafts: DraftInfo[];
}

/** What is in a session's draft; `ended`: nothing any more. */
export interface DraftInfo {
  sessionId: string;
  agent: string;
  files: DraftFile[];
  bytes: number;
  started: string; // RFC 3339
  /** Commands run on it. */
  commands: boolean;
  ended?: boolean;
}

export interface DraftFile {
  path: string;
  kind: string; // created, changed or deleted
  added: number;
  removed: number;
  /** By git. */
  ignored?: boolean;
  protected?: boolean;
}

export interface DraftSelector {
  sessionId: string;
}

export interface Todo {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
  priority: "high" | "medium" | "low";
}

/** The state of one session, after anything of it changed. */
export interface SessionChanged {
  session: SessionInfo;
  ended?: boolean;
}

/** The user's own change of a list, whole. */
export interface SessionTodos {
  sessionId: string;
  todos: Todo[];
  revision: number;
}

export interface SessionNewTurn {
  sessionId: string;
}

export interface SessionSetMode {
  sessionId: string;
  mode: string;
}

export interface SessionRevoke {
  sessionId: string;
  rule: string;
}

/** The rules that hold, and what of projects' settings does not count because they are not trusted. */
export interface RulesChanged {
  rules: ListedRule[];
  untrusted: SettingsUntrusted[];
}

export interface ListedRule {
  effect: string;
  rule: string;
  from: string;
  folder?: string;
  /** Of settings; the user's may be in VS Code's instead. */
  file?: string;
  since?: string;
  why?: string;
}

export interface RulesForget {
  folder: string;
  rule: string;
}

export interface SessionClose {
  sessionId: string;
}

export interface SessionPause {
  sessionId: string;
  reason?: string;
}

export interface SessionUnusual {
  sessionId: string;
  agent: AgentIdentity;
  kind: "escape" | "mass_deletion" | "refusals";
  message: string;
  /** What the sidecar did about it by itself. */
  acted: "" | "paused" | "reverted";
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
