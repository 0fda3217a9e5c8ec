import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals } from "../../src/approvals";
import { deed } from "../../src/deeds";
import { commandPage } from "../../src/command-page";
import { entriesWords, fileDeed, filesQuestion, isText, names } from "../../src/file-words";
import type { FilePreview } from "../../src/protocol";
import { file, request } from "./samples";

function of(operation: string, more: Partial<FilePreview> = {}): FilePreview {
  return { ...file, operation, before: "", after: "", diff: "", additions: 0, deletions: 0, path: "lib/old", ...more };
}

const folder = of("delete", { entries: 3, diff: "lib/old/a.py\nlib/old/b\u202e.py\n" });
const move = of("move", { path: "a.py", to: "lib/b.py" });
const mode = of("change_mode", { path: "run.sh", whole: "made executable, mode 100644 → 100755" });

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
