// What a preview would do to one file or folder, in words. Pure.

import { visible } from "./escape";
import type { FilePreview } from "./protocol";

/** Longer lists of a folder's files are cut off. */
const namesShown = 60;

/** What happens to it beside its lines. */
export function noteOf({ note }: FilePreview): string {
  return visible(note ?? "");
}

/** Each once, though there may be more to do to it than one thing. */
export function pathsOf(files: readonly FilePreview[]): string[] {
  return [...new Set(files.map(({ path }) => path))];
}

/** Whether it is read as two texts side by side; a folder, a move, a mode and what is no text (`whole`) are told in words. */
export function isText({ operation, before, entries, whole }: FilePreview): boolean {
  if (whole !== undefined) {
    return false;
  }
  return operation === "delete" ? before !== "" && entries === undefined : !["move", "create_directory"].includes(operation);
}

export function isFolder({ operation, entries }: FilePreview): boolean {
  return operation === "create_directory" || entries !== undefined;
}

/** `delete the folder old`, `move a.py to b.py`, `create the folder new`, `delete notes.md`, `edit run.sh (made executable, mode 100644 → 100755)`: completes “claude wants to …”. */
export function fileDeed(file: FilePreview): string {
  const path = visible(file.path);
  const name = isFolder(file) ? `the folder ${path}` : path;
  switch (file.operation) {
    case "create_directory":
      return `create ${name}`;
    case "delete":
      return `delete ${name}${file.whole ? ` (${visible(file.whole)})` : ""}`;
    case "move":
      return `move ${name} to ${visible(file.to ?? "")}`;
    default:
      return `${file.operation === "create" ? "create" : "edit"} ${path}${file.whole === undefined ? "" : ` (${visible(file.whole)})`}`;
  }
}

/** The name of the page that asks. */
export function filesQuestion(files: readonly FilePreview[]): string {
  const [only, another] = files;
  const what = only && { create_directory: "Create", delete: "Delete", move: "Move" }[only.operation];
  return another || !what ? "Change files?" : `${what} a ${isFolder(only) ? "folder" : "file"}?`;
}

/** What becomes of a file, but for its lines: `made executable, …`, `deleted, binary, 12 bytes`, `new file`. */
export function fileFate({ operation, whole }: FilePreview): string {
  return [fates.get(operation) ?? "", visible(whole ?? "")].filter(Boolean).join(", ");
}

const fates = new Map([["create", "new file"], ["delete", "deleted"]]);

/** What of a folder goes with it: `12 files`. */
export function entriesWords({ operation, entries }: FilePreview): string {
  if (entries === undefined || operation === "create_directory") {
    return "";
  }
  return entries === 0 ? "nothing, it is empty" : entries === 1 ? "1 file" : `${String(entries)} files`;
}

/** The files of a folder, as its preview lists them. */
export function names({ diff, entries }: FilePreview): string[] {
  const all = diff.split("\n").filter((line) => line !== "");
  const more = Math.max(all.length, entries ?? 0) - Math.min(all.length, namesShown);
  return [...all.slice(0, namesShown).map(visible), ...(more > 0 ? [`… and ${String(more)} more`] : [])];
}

/** Beside a merged proposal. */
export const mergedNote = "merged: the file changed since the agent read it, and this has both";

/** What the human should know of what lies beneath a dialog. */
export const beneathNotes: Readonly<Record<"unchanged" | "updated" | "moved" | "conflict", string | undefined>> = {
  unchanged: undefined,
  updated: "updated, look again: what it rests on changed",
  moved: "moved, updated: the same change, elsewhere",
  conflict: "changed since: your text will be merged and shown again",
};

/** Of VS Code; any other operation is a modification. */
export const operationIcons: Readonly<Record<string, string>> = { create: "diff-added", create_directory: "new-folder", delete: "diff-removed", move: "diff-renamed" };
