// The wire between this extension and `pillion serve`, beyond what LSP defines: one plain interface per message, with the
// field names that docs/protocol.md fixes. A test on the Go side compares these names with its own, so this file holds
// shapes and method names and nothing else.

export const methods = {
  approvalRequest: "approval/request",
  approvalChanged: "approval/changed",
  approvalResolved: "approval/resolved",
  promptUser: "prompt/user",
  planReview: "plan/review",
  patchReview: "patch/review",
  agentStatus: "agent/status",
  activityChanged: "activity/changed",
  documentEdit: "document/edit",
  documentState: "document/state",
  editorDefinition: "editor/definition",
  editorHover: "editor/hover",
  editorReferences: "editor/references",
  editorSymbols: "editor/symbols",
  editorDiagnostics: "editor/diagnostics",
  windowFocused: "window/focused",
  toolsCall: "tools/call",
  sessionList: "session/list",
  sessionNewTurn: "session/newTurn",
  sessionSetMode: "session/setMode",
  processList: "process/list",
  processOutput: "process/output",
  processKill: "process/kill",
  processWrite: "process/write",
  settingsUntrusted: "settings/untrusted",
  settingsTrust: "settings/trust",
  journalList: "journal/list",
  journalRevert: "journal/revert",
  journalChanged: "journal/changed",
  workspaceChanged: "workspace/changed",
  workspaceTracking: "workspace/tracking",
  sessionUnusual: "session/unusual",
  sessionPause: "session/pause",
} as const;

/** `capabilities.experimental.pillion` of `initialize`: what this editor can do beyond LSP. */
export interface EditorCapabilities {
  approval: boolean;
  prompt: boolean;
  review: boolean;
  plan: boolean;
  documents: boolean;
  languageFeatures: boolean;
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
  reasons: string[] | null;
  arguments: unknown;
  preview: Preview;
  decisions: ApprovalDecision[] | null;
  digest: string;
  /** RFC 3339. */
  expiresAt?: string;
}

export interface ApprovalDecision {
  id: string;
  title: string;
  scope: "once" | "session" | "workspace";
  /** The exact rule that this choice saves. */
  rule?: string;
}

export type Preview = DiffPreview | CommandPreview | UrlPreview | TextPreview;

export interface DiffPreview {
  kind: "diff";
  files: FilePreview[] | null;
}

export interface FilePreview {
  path: string;
  uri: string;
  operation: string;
  language: string;
  /** Bytes. */
  size: number;
  before: string;
  after: string;
  /** Unified text. */
  diff: string;
  hunks: HunkPreview[] | null;
  additions: number;
  deletions: number;
  openInEditor: boolean;
  dirty: boolean;
  /** The file had moved on since the agent read it; `after` has both changes. */
  merged?: boolean;
  /** Of a move. */
  to?: string;
  /** Files that a folder holds which goes or moves. */
  entries?: number;
  /** What happens to it beside its lines, in words: `executable, mode 100755`. */
  note?: string;
  /** What there is to say of it where there are no lines to compare, beside operation and names: `binary, 79 → 99 bytes`. */
  whole?: string;
}

export interface HunkPreview {
  id: string;
  header: string;
}

export interface CommandPreview {
  kind: "command";
  command: string;
  cwd?: string;
  parts?: CommandPart[] | null;
  writes?: string[] | null;
  /** Open files whose text the command would not see. */
  unsaved?: string[] | null;
  /** Whether it may reach the network; left out when it may not. */
  network?: boolean;
  /** What really holds the command; `none` when nothing does. */
  sandbox?: string;
}

export interface CommandPart {
  argv: string[] | null;
  why: string;
}

export interface UrlPreview {
  kind: "url";
  url: string;
  [detail: string]: unknown;
}

export interface TextPreview {
  kind: "text";
  markdown?: string;
  /** Completes “the agent wants to”. This and what follows says parts of the text once more, to be laid out. */
  deed?: string;
  /** The argument of that name, which the human may write anew. */
  message?: string;
  facts?: Fact[];
  /** In git's format. */
  diff?: string;
  /** Open files whose text it would not hold. */
  unsaved?: string[] | null;
}

export interface Fact {
  name: string;
  values: string[] | null;
  /** Something that the human may not expect. */
  notable?: boolean;
}

export interface ApprovalAnswer {
  decision: "approve" | "edit" | "reject" | "cancel";
  decisionId?: string;
  /** With `edit`: what the call is planned anew with. */
  modifiedArguments?: object;
  /** With `edit`: the human's own text, by path as in the preview. */
  after?: Record<string, string>;
  /** With `approve` or `edit`: the ids of the hunks that are to be made; left out, all are. */
  selected?: string[];
  feedback?: string;
  /** What was on show when the human answered. */
  digest?: string;
}

export interface ApprovalChanged {
  approvalId: string;
  digest: string;
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
  message: string;
  actions: string[] | null;
}

export interface PromptAnswer {
  action: string;
}

export interface PlanReview {
  planId: string;
  /** Markdown, by an agent that is in plan mode and wants to leave it. */
  plan: string;
  agent?: AgentIdentity;
  sessionId?: string;
}

export interface PlanAnswer {
  decision: "approve" | "reject" | "cancel";
  feedback?: string;
}

export interface AgentStatus {
  sessionId: string;
  status: "idle" | "thinking" | "executing_tool" | "waiting_approval" | "error";
  message: string;
}

export interface ActivityChanged {
  callId: string;
  sessionId: string;
  agent: AgentIdentity;
  tool: string;
  title: string;
  state: "queued" | "running" | "waiting" | "done" | "failed";
  summary: string;
  durationMs: number;
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

export interface SessionNewTurn {
  sessionId: string;
}

export interface SessionSetMode {
  sessionId: string;
  mode: string;
}

export interface SessionList {
  sessions: SessionInfo[] | null;
}

export interface SessionInfo {
  sessionId: string;
  agent: AgentIdentity;
  mode: string;
  paused: boolean;
  pauseReason?: string;
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
  /** RFC 3339. */
  started: string;
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

/** The project's own settings ask for more than the human trusts; without rules they ask for nothing any more. */
export interface SettingsUntrusted {
  path: string;
  hash: string;
  rules: string[] | null;
}

export interface SettingsTrust {
  path: string;
  hash: string;
}

/** Each that is given must fit; without any the request is refused. */
export interface JournalSelector {
  sessionId?: string;
  turn?: number;
  callId?: string;
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
  /** RFC 3339. */
  time: string;
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
