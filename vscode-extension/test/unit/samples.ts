import type { ApprovalRequest, CommandPreview, FilePreview, JournalEntry, Preview, TextPreview } from "../../src/protocol";

export const file: FilePreview = {
  path: "src/app.py",
  uri: "file:///project/src/app.py",
  operation: "overwrite",
  language: "python",
  size: 4,
  before: "old\n",
  after: "new\n",
  diff: "",
  hunks: [],
  additions: 1,
  deletions: 1,
  openInEditor: false,
  dirty: false,
};

export const command: CommandPreview = { kind: "command", command: "make test", cwd: "project", parts: [], writes: [] };

export const commit: TextPreview = {
  kind: "text",
  markdown: "    clock: pad\n",
  deed: "commit 1 file to main",
  message: "clock: pad\n\nwhy\u202e\n",
  facts: [
    { name: "Branch", values: ["main, now at b3a5c5d"] },
    { name: "Files", values: ["M a.py +1 −1", "A b.py +1 −0"] },
    { name: "It misses", values: ["what you have not saved in a.py"], notable: true },
  ],
  diff: "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n--- two\n+three\ndiff --git a/b.py b/b.py\nnew file mode 100755\n--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+b\u200b\n",
  unsaved: ["a.py"],
};

export function request(preview: Preview = { kind: "diff", files: [file] }, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    approvalId: "a1",
    callId: "c1",
    sessionId: "s1",
    agent: { name: "claude", via: "mcp" },
    tool: "edit_file",
    title: "Edit src/app.py",
    description: "",
    reasons: ["edits ask in this mode"],
    arguments: {},
    preview,
    decisions: [
      { id: "reject", title: "Reject", scope: "once" },
      { id: "approve", title: "Approve", scope: "once" },
      { id: "session-1", title: "Approve for this session", scope: "session", rule: "edit_file(src/**)" },
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
