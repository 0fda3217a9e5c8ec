import type { ApprovalRequest, CommandPreview, DiffPreview, FilePreview, HunkPreview, JournalEntry, Preview, TextPreview } from "../../src/protocol";
import type { SessionInfo, Todo } from "../../src/session-protocol";

export const file: FilePreview = {
  path: "src/app.py",
  uri: "file:///project/src/app.py",
  operation: "overwrite",
  language: "python",
  before: "old\n",
  after: "new\n",
  diff: "",
  hunks: [],
  additions: 1,
  deletions: 1,
  name: "src/app.py",
  deed: "edit src/app.py",
  summary: "",
  text: true,
  facts: [],
  banner: "",
};

/** A hunk of `before` and `after`, with a line around it where there is one. */
export function hunk(id: string, [start, end]: [number, number], [from, to]: [number, number], more: Partial<HunkPreview> = {}): HunkPreview {
  return { id, header: `hunk ${id}`, title: `${String(start + 1)}: hunk ${id}`, additions: to - from, deletions: end - start, before: { start, end }, after: { start: from, end: to }, head: 0, tail: 0, ...more };
}

/** A file that is taken or left as a whole. */
export function whole(id: string, header: string): HunkPreview {
  return { id, header, title: header, additions: 0, deletions: 0, head: 0, tail: 0 };
}

export function diff(files: FilePreview[], more: Partial<DiffPreview> = {}): DiffPreview {
  return { kind: "diff", files, act: "change files", deed: "edit src/app.py", subject: "src/app.py", question: "Change files?", facts: [], ...more };
}

export const command: CommandPreview = {
  kind: "command",
  command: "make test",
  lines: ["make test"],
  cwd: "project",
  act: "run a command",
  deed: "run make test",
  subject: "make test",
  question: "Run a command?",
  facts: [
    { code: "folder", label: "Folder", text: "project" },
    { code: "agent", label: "Asked by", text: "claude, over MCP" },
  ],
};

export const commit: TextPreview = {
  kind: "text",
  act: "commit 1 file to main",
  deed: "commit 1 file to main",
  subject: "",
  question: "Commit this?",
  message: "clock: pad\n\nwhy\u202e\n",
  lines: ["clock: pad", "", "why\\u202e"],
  facts: [
    { code: "branch", label: "Branch", text: "main, now at b3a5c5d" },
    { code: "files", label: "Files", text: "", items: ["M a.py +1 −1", "A b.py +1 −0"] },
    { code: "unsaved", label: "Unsaved changes not included", text: "a.py", tone: "warning", action: "save" },
  ],
  diff: "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n--- two\n+three\ndiff --git a/b.py b/b.py\nnew file mode 100755\n--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+b\u200b\n",
  unsaved: ["a.py"],
};

export function request(preview: Preview = diff([file]), more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    approvalId: "a1",
    callId: "c1",
    sessionId: "s1",
    agent: { name: "claude", via: "mcp" },
    tool: "edit_file",
    title: "Edit src/app.py",
    description: "",
    reasons: [{ code: "class", text: "this tool changes files" }],
    arguments: {},
    preview,
    decisions: [
      { id: "reject", title: "Reject", scope: "once", meaning: "the agent goes on without it" },
      { id: "approve", title: "Approve", scope: "once", meaning: "once" },
      { id: "session-1", title: "Approve for this session", scope: "session", rule: "edit_file(src/**)", meaning: "for this session, without asking" },
    ],
    digest: "digest-1",
    ...more,
  };
}

export function journalEntry(id: string, more: Partial<JournalEntry> = {}): JournalEntry {
  const agent = { name: "claude", via: "mcp" };
  const files = [{ path: "src/app.py", operation: "overwrite", additions: 1, deletions: 1 }];
  const entry = { id, callId: `call-${id}`, sessionId: "s1", agent, tool: "edit_file", title: "Edit src/app.py", turn: 1, time: "2026-11-21T14:05:00Z" };
  return { ...entry, state: "done", paths: ["src/app.py"], files, ...more };
}

/** An agent that is there and has done nothing. */
export function session(name: string, more: Partial<SessionInfo> = {}): SessionInfo {
  return {
    sessionId: name,
    agent: { name, via: "mcp" },
    mode: "default",
    paused: false,
    connected: true,
    started: "2026-05-04T14:05:00",
    calls: 0,
    changes: 0,
    rejected: 0,
    refused: 0,
    grants: [],
    todos: [],
    todosRevision: 0,
    ...more,
  };
}

/** `a b* >c`: b is done, c in progress. */
export function todos(items: string): Todo[] {
  return items.split(" ").filter(Boolean).map((item) => {
    const id = item.replace(/\W/, "");
    return { id, content: `item ${id}`, status: item.endsWith("*") ? "completed" : item.startsWith(">") ? "in_progress" : "pending", priority: "medium" };
  });
}
