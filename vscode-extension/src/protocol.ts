// The wire between this extension and `pillion serve`, beyond what LSP defines: one plain interface per message, with the
// field names that docs/protocol.md fixes. A test on the Go side compares these names with its own, so this file holds
// shapes and method names and nothing else.

export const methods = {
  approvalRequest: "approval/request",
  approvalChanged: "approval/changed",
  approvalResolved: "approval/resolved",
  promptUser: "prompt/user",
  agentStatus: "agent/status",
  activityChanged: "activity/changed",
  activityShow: "activity/show",
  documentEdit: "document/edit",
  documentState: "document/state",
  editorDefinition: "editor/definition",
  editorHover: "editor/hover",
  editorReferences: "editor/references",
  editorSymbols: "editor/symbols",
  editorDiagnostics: "editor/diagnostics",
  windowFocused: "window/focused",
  toolsCall: "tools/call",
  toolsList: "tools/list",
  sessionList: "session/list",
  sessionNewTurn: "session/newTurn",
  sessionSetMode: "session/setMode",
  sessionTodos: "session/todos",
  sessionRevoke: "session/revoke",
  sessionClose: "session/close",
  sessionChanged: "session/changed",
  draftList: "draft/list",
  draftReview: "draft/review",
  draftDiscard: "draft/discard",
  draftChanged: "draft/changed",
  processList: "process/list",
  processOutput: "process/output",
  processKill: "process/kill",
  processWrite: "process/write",
  settingsUntrusted: "settings/untrusted",
  settingsTrust: "settings/trust",
  settingsIgnore: "settings/ignore",
  rulesChanged: "rules/changed",
  rulesForget: "rules/forget",
  journalList: "journal/list",
  journalRevert: "journal/revert",
  journalChanged: "journal/changed",
  workspaceChanged: "workspace/changed",
  workspaceTracking: "workspace/tracking",
  workspaceIndex: "workspace/index",
  sessionUnusual: "session/unusual",
  sessionPause: "session/pause",
  conversationChanged: "conversation/changed",
  conversationAppended: "conversation/appended",
  conversationSend: "conversation/send",
  contextUpdate: "context/update",
  gatewayConnect: "gateway/connect",
  gatewayDisconnect: "gateway/disconnect",
  gatewayChanged: "gateway/changed",
} as const;

/** `capabilities.experimental.pillion` of `initialize`: what this editor can do beyond LSP. */
export interface EditorCapabilities {
  approval: boolean;
  /** The kinds of requests that it shows beside those of calls. */
  approvalKinds: ("plan" | "review")[];
  prompt: boolean;
  documents: boolean;
  languageFeatures: boolean;
}

/** What the sidecar says of itself there. */
export interface SidecarCapabilities {
  protocolVersion: number;
  /** By the name that `pillion mcp install` takes. */
  agents?: { id: string; name: string }[];
}

export interface AgentIdentity {
  name: string;
  via: string;
}

export interface ApprovalRequest {
  approvalId: string;
  callId: string;
  sessionId: string;
  agent: AgentIdentity;
  tool: string;
  title: string;
  description: string;
  reasons: Reason[] | null;
  arguments: unknown;
  preview: Preview;
  decisions: ApprovalDecision[] | null;
  digest: string;
  expiresAt?: string; // RFC 3339
}

/** Why it asks. */
export interface Reason {
  /** `class` holds for every call of the tool. */
  code: string;
  text: string;
}

export interface ApprovalDecision {
  id: string;
  title: string;
  scope: "once" | "turn" | "session" | "workspace";
  /** The exact rule that this choice saves. */
  rule?: string;
  meaning: string;
}

export type Preview = DiffPreview | CommandPreview | UrlPreview | TextPreview;

/** Composed by the sidecar, like every `text`, `lines`, `facts`, `deed`, `title` and so on below: shown as it is, with everything invisible written out. */
export interface Composed {
  /** Completes “the agent wants to”, in general and in particular. */
  act: string;
  deed: string;
  /** The deed without its verb. */
  subject: string;
  /** The name of the tab that asks. */
  question: string;
  notices?: string[];
  facts: Fact[];
}

export interface Fact {
  code: string;
  label: string;
  text: string;
  /** In place of the text. */
  items?: string[];
  tone?: "warning" | "muted";
  action?: "save";
}

/** Changes that a call would make, or a patch to choose from. */
export interface DiffPreview extends Composed {
  kind: "diff" | "review";
  files: FilePreview[] | null;
  /** They are what is in a draft, to be applied. */
  draft?: boolean;
}

export interface FilePreview {
  path: string;
  uri: string;
  operation: string;
  language: string;
  before: string;
  after: string;
  /** Unified text. */
  diff: string;
  hunks: HunkPreview[] | null;
  additions: number;
  deletions: number;
  /** The file had changed since the agent read it; `after` has both changes. */
  merged?: boolean;
  /** Of a move. */
  to?: string;
  whole?: string; // the part of the summary that is about its bytes
  /** Data URLs. */
  pictures?: { before?: string; after?: string };
  name: string;
  deed: string;
  /** What happens to it beside its lines. */
  summary: string;
  text: boolean; // its two texts are compared side by side
  facts: Fact[];
  /** What its diff cannot say. */
  banner: string;
}

/** One contiguous block of changed lines; without `before` and `after` the file as a whole. */
export interface HunkPreview {
  id: string;
  header: string;
  title: string;
  additions: number;
  deletions: number;
  before?: HunkLines;
  after?: HunkLines;
  /** How many unchanged lines above and below it help to find it again. */
  head: number;
  tail: number;
}

/** Lines of a text, from 0. */
export interface HunkLines {
  start: number;
  end: number;
}

export interface CommandPreview extends Composed {
  kind: "command";
  command: string;
  lines?: string[];
  cwd?: string;
  /** Open files whose text the command would not see. */
  unsaved?: string[] | null;
}

export interface UrlPreview extends Composed {
  kind: "url";
  url: string;
  lines?: string[];
}

/** Anything else; `plan` is an agent's plan. */
export interface TextPreview extends Composed {
  kind: "text" | "plan";
  markdown?: string;
  lines?: string[];
  /** The argument of that name, which the user may edit. */
  message?: string;
  /** In git's format. */
  diff?: string;
  /** Open files whose text it would not have. */
  unsaved?: string[] | null;
}

export interface ApprovalAnswer {
  decision: "approve" | "edit" | "reject" | "cancel";
  decisionId?: string;
  /** With `edit`: what the call is planned anew with. */
  modifiedArguments?: object;
  /** With `edit`: the user's own text, by path as in the preview. */
  after?: Record<string, string>;
  /** With `approve` or `edit`: the ids of the hunks that are to be made; left out, all are. */
  selected?: string[];
  feedback?: string;
  /** With `reject`, and with any answer about a draft. */
  comments?: LineComment[];
  /** What was on show when the user answered. */
  digest?: string;
}

/** What the user wrote about a line. */
export interface LineComment {
  /** As in the preview. */
  path: string;
  /** From 1, of what the agent proposes. */
  line: number;
  text: string;
}

export interface ApprovalChanged {
  approvalId: string;
  digest: string;
  reasons: Reason[] | null;
  preview: Preview;
  /** True when the same change only sits elsewhere now. */
  moved: boolean;
}

export interface ApprovalResolved {
  approvalId: string;
  outcome: string;
}

export interface PromptRequest {
  promptId: string;
  agent: AgentIdentity;
  message: string;
  actions: string[] | null;
}

export interface PromptAnswer {
  action: string;
  feedback?: string;
}

export interface AgentStatus {
  sessionId: string;
  status: "idle" | "thinking" | "executing_tool" | "waiting_approval" | "error";
  message: string;
}

export interface DocumentEdit {
  uri: string;
  version: number;
  edits: TextEdit[] | null;
  save: boolean;
  label: string;
}

export interface TextEdit {
  range: Range;
  newText: string;
}

export interface Range {
  start: Position;
  end: Position;
}

/** Zero-based; `character` counts UTF-16 code units. */
export interface Position {
  line: number;
  character: number;
}

export interface DocumentEditResult {
  applied: boolean;
  version: number;
  dirty: boolean;
  reason?: string;
}

export interface DocumentState {
  uri: string;
  version: number;
  dirty: boolean;
  encoding: string;
  eol: "\n" | "\r\n";
  bom: boolean;
  readonly: boolean;
}

/** What the editor's own language servers say: LSP's result, and the version of the document that it is about. */
export interface LanguageAnswer {
  result: unknown;
  /** Null where VS Code does not say. */
  version: number | null;
  /** For people. */
  server: string;
}

export interface ToolCall {
  name: string;
  arguments: unknown;
  sessionId: string;
}

export interface ToolResult {
  content: ToolContent[] | null;
  structuredContent?: unknown;
  isError?: boolean;
}

export interface ToolContent {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
}

export interface ProcessList {
  processes: ProcessInfo[] | null;
}

/** A command that an agent left running, under a name that is unique in its session. */
export interface ProcessInfo {
  sessionId: string;
  processId: string;
  agent: AgentIdentity;
  pid: number;
  command: string;
  cwd: string;
  running: boolean;
  exitCode?: number;
  started: string; // RFC 3339
}

/** The first one of a process comes at once, without text; the last one says how it ended. */
export interface ProcessOutput {
  sessionId: string;
  processId: string;
  text: string;
  /** Where the text stands in all that it ever printed, in bytes; what lies between two of them was not sent. */
  start: number;
  next: number;
  running: boolean;
  exitCode?: number;
}

export interface ProcessKill {
  sessionId: string;
  processId: string;
  signal?: string;
}

export interface ProcessWrite {
  sessionId: string;
  processId: string;
  input: string;
}

/** The project's own settings ask for more than the user trusts; without rules they ask for nothing any more. */
export interface SettingsUntrusted {
  path: string;
  hash: string;
  rules: string[] | null;
  /** What of the file has no effect, trusted or not, and why. */
  problems?: string[];
}

/** For `settings/ignore` too. */
export interface SettingsTrust {
  path: string;
  hash: string;
}

/** Each that is given must fit; without any the request is refused. */
export interface JournalSelector {
  sessionId?: string;
  turn?: number;
  /** This turn and all later ones. */
  sinceTurn?: number;
  callId?: string;
  /** One file of what is reverted. */
  path?: string;
}

export interface JournalList {
  /** Newest first. */
  entries: JournalEntry[] | null;
}

/** One change set of an agent, or a revert of one. */
export interface JournalEntry {
  id: string;
  callId: string;
  sessionId: string;
  agent: AgentIdentity;
  tool: string;
  title: string;
  turn: number;
  /** How what the user wrote begins that the turn came of. */
  prompt?: string;
  time: string; // RFC 3339
  state: "done" | "undone" | "interrupted" | "reverted" | "partly_reverted";
  /** Of one that was undone or interrupted. */
  why?: string;
  paths: string[] | null;
  files: JournalFile[] | null;
}

export interface JournalFile {
  path: string;
  operation: string;
  /** Of a move. */
  to?: string;
  additions: number;
  deletions: number;
  /** What else comes of it: `runs when you next use make`. */
  note?: string;
}

/** What a revert did, or would do. */
export interface JournalReverted {
  reverted: string[] | null;
  merged: string[] | null;
  /** These stay as they are. */
  conflicts: string[] | null;
  /** Why, of each conflict, by path. */
  reasons: Record<string, string> | null;
  /** The revert's own name in the journal. */
  callId?: string;
  preview?: Preview;
}

export interface JournalChanged {
  entry: JournalEntry;
  files: ChangedFile[] | null;
}

export interface ChangedFile {
  path: string;
  uri: string;
  operation: string;
  to?: string;
  toUri?: string;
  lines: LineSpan[] | null;
  merged: boolean;
}

/** Lines of the text as it is now, from 0, `end` not among them. */
export interface LineSpan {
  start: number;
  end: number;
  /** How many lines stood there before. */
  removed?: number;
}

export interface WorkspaceChanged {
  changes: WorkspaceChange[] | null;
}

export interface WorkspaceChange {
  /** Empty: anything may have changed. */
  path: string;
  type: "created" | "changed" | "deleted";
  /** `agent:<session>`, `editor` or `outside`. */
  by: string;
}

export interface WorkspaceTracking {
  degraded: boolean;
  reason: string;
  watched: number;
}

