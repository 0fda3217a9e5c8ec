// The wire of conversations and gateways: as protocol.ts, of which it is a part.

import type { AgentIdentity } from "./protocol";

export type Connection = "disconnected" | "connecting" | "connected" | "reconnecting";

export interface GatewayState {
  state: Connection;
  /** Without what may be secret. */
  url: string;
  sessionId: string;
  conversationId: string;
  attempt?: number;
  retryInMs?: number;
  error?: { code: string; message: string; hint?: string };
}

export interface GatewayConnect {
  url: string;
  token: string;
}

export interface ConversationView {
  conversationId: string;
  title: string;
  agent: AgentIdentity;
  sessionId: string;
  status: "idle" | "thinking" | "executing_tool" | "waiting_approval" | "error";
  message: string;
  connection: Connection;
  entries: ConversationEntry[];
  context: ContextFile[];
}

export interface ConversationEntry {
  entryId: string;
  kind: "user" | "agent" | "call" | "error" | "notice";
  /** Markdown of the agent's, else plain. */
  text: string;
  done: boolean;
  at: string;
  call?: ConversationCall;
}

export interface ConversationCall {
  callId: string;
  tool: string;
  title: string;
  state: "queued" | "running" | "waiting" | "done" | "failed";
  summary: string;
}

export interface ContextFile {
  path: string;
  /** Only a part of it. */
  content?: boolean;
  lines?: number;
  by: "user" | "agent";
}

/** What changed; a conversation that is not known is a new one. */
export interface ConversationChanged {
  conversationId: string;
  title?: string;
  agent?: AgentIdentity;
  sessionId?: string;
  status?: ConversationView["status"];
  message?: string;
  connection?: Connection;
  entries?: ConversationEntry[];
  context?: ContextFile[];
  removed?: string[];
  closed?: boolean;
}

export interface ConversationAppended {
  conversationId: string;
  entryId: string;
  text: string;
}

export interface ContextUpdate {
  conversationId: string;
  action: "add_file" | "remove_file" | "clear";
  data?: { path: string; content?: string };
}
