import assert from "node:assert/strict";
import { test } from "node:test";
import { type Approval, Approvals } from "../../src/approvals";
import { deed } from "../../src/deeds";
import { commandPage } from "../../src/command-page";
import { entriesWords, fileDeed, fileFate, filesQuestion, isText, names, pathsOf } from "../../src/file-words";
import type { FilePreview } from "../../src/protocol";
import { file, request } from "./samples";

function of(operation: string, more: Partial<FilePreview> = {}): FilePreview {
  return { ...file, operation, before: "", after: "", diff: "", additions: 0, deletions: 0, path: "lib/old", ...more };
}

const folder = of("delete", { entries: 3, diff: "lib/old/a.py\nlib/old/b\u202e.py\n" });
const move = of("move", { path: "a.py", to: "lib/b.py" });
const mode = of("change_mode", { path: "run.sh", whole: "made executable, mode 100644 → 100755" });

function opened(...files: FilePreview[]): Approval {
  const approvals = new Approvals(() => 0);
  void approvals.open(request({ kind: "diff", files }), (outcome) => new Error(outcome));
  return approvals.all[0] ?? assert.fail();
}

test("a text is shown as a diff, also one that goes; the rest is told", () => {
  assert.deepEqual([file, of("delete", { before: "x" }), of("delete"), folder, move, of("create_directory")].map(isText), [true, true, false, false, false, false]);
});

test("each deed is told with what goes with it", () => {
  assert.deepEqual([folder, move, of("create_directory"), of("delete", { before: "x" })].map(fileDeed), [
    "delete the folder lib/old",
    "move a.py to lib/b.py",
    "create the folder lib/old",
    "delete lib/old",
  ]);
  assert.deepEqual([0, 1, 3].map((entries) => entriesWords(of("delete", { entries }))), ["nothing, it is empty", "1 file", "3 files"]);
  assert.deepEqual(names(folder), ["lib/old/a.py", "lib/old/b\\u{202e}.py", "… and 1 more"]);
  assert.deepEqual([[folder], [move], [of("create_directory")], [file, move]].map(filesQuestion), ["Delete a folder?", "Move a file?", "Create a folder?", "Change files?"]);
  assert.equal(deed(request({ kind: "diff", files: [move] }, { tool: "move_file" })), "move a.py to lib/b.py");
  assert.equal(deed(request({ kind: "diff", files: [mode] }, { tool: "apply_patch" })), "edit run.sh (made executable, mode 100644 → 100755)");
  assert.equal(isText(mode), false);
});

test("what there is no text of is told with its fate, and each place can be gone to", () => {
  const bytes = of("overwrite", { path: "pot.png", whole: "binary, 79 → 99 bytes" });
  const gone = of("delete", { path: "old.bin", whole: "binary, 4 bytes" });
  const text = { ...file, path: "run.sh", diff: "diff --git a/run.sh b/run.sh\n--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-a\u200b\n+b\n" };
  const note = { ...of("delete", { path: "notes.txt", before: "one\n", diff: "@@ -1 +0,0 @@\n-one\n", deletions: 1 }) };
  const made = of("create", { path: "leaf.sh", note: "executable, mode 100755", diff: "@@ -0,0 +1 @@\n+a\n", additions: 1 });
  assert.deepEqual(
    [bytes, gone, mode, of("delete"), made].map(fileFate),
    ["binary, 79 → 99 bytes", "deleted, binary, 4 bytes", "made executable, mode 100644 → 100755", "deleted", "new file"],
  );
  assert.equal(fileDeed(gone), "delete old.bin (binary, 4 bytes)");
  const page = commandPage(opened(text, mode, bytes, note, gone, made));
  const lines = page.text.split("\n");
  const told = ["run.sh  +1 -1", "  @@ -1 +1 @@", "  -a\\u{200b}", "  +b", "", "  run.sh  made executable, mode 100644 → 100755", "", "  pot.png  binary, 79 → 99 bytes", ""];
  assert.deepEqual(lines.slice(2, 11).map((line, index) => (index === 0 ? line.trim() : line)), told);
  assert.match(page.text, /\n\n {2}notes\.txt {2}deleted, \+0 -1\n {2}@@ -1 \+0,0 @@\n {2}-one\n\n {2}old\.bin {2}deleted, binary, 4 bytes\n\n {2}leaf\.sh {2}new file, \+1 -0, executable, mode 100755\n/);
  assert.deepEqual([...page.places].map(([name, line]) => `${name}: ${lines[line] ?? ""}`), [
    "run.sh:   run.sh  +1 -1",
    "run.sh\nchange_mode:   run.sh  made executable, mode 100644 → 100755",
    "pot.png:   pot.png  binary, 79 → 99 bytes",
    "notes.txt:   notes.txt  deleted, +0 -1",
    "old.bin:   old.bin  deleted, binary, 4 bytes",
    "leaf.sh:   leaf.sh  new file, +1 -0, executable, mode 100755",
  ]);
});

test("a file to which two things are done is one file", () => {
  const text = { ...file, path: "run.sh" };
  assert.deepEqual(pathsOf([text, mode, move]), ["run.sh", "a.py"]);
  assert.equal(deed(request({ kind: "diff", files: [text, mode, move] }, { tool: "apply_patch" })), "edit 2 files");
  assert.equal(deed(request({ kind: "diff", files: [text, mode] }, { tool: "apply_patch" })), "edit run.sh");
});

test("a page tells what goes where, and counts as read once it was on the screen", () => {
  const approvals = new Approvals(() => 0);
  void approvals.open(request({ kind: "diff", files: [folder] }, { tool: "delete_file" }), (outcome) => new Error(outcome));
  void approvals.open(request({ kind: "diff", files: [file, move] }, { approvalId: "a2" }), (outcome) => new Error(outcome));
  const [one, two] = approvals.all;
  assert.ok(one && two);
  const { text } = commandPage(one);
  assert.match(text, /^claude wants to delete the folder lib\/old$/m);
  assert.match(text, /^Folder +lib\/old\nWith it +3 files\nFiles +lib\/old\/a\.py$/m);
  assert.match(commandPage(two).text, /src\/app\.py {2}\+1 -1\n[^]*From +a\.py\nTo +lib\/b\.py/);
  assert.deepEqual([one.hasPage, two.hasPage, one.wasSeen, two.wasSeen], [true, true, false, false]);
  one.see();
  two.see();
  assert.deepEqual([one.wasSeen, two.wasSeen], [true, false]);
  two.see("src/app.py");
  assert.equal(two.wasSeen, true);
});
