// What several views show of the files of a proposal. Pure.

import type { FilePreview } from "./protocol";

/** Each once, though there may be more to do to it than one thing. */
export function pathsOf(files: readonly FilePreview[]): string[] {
  return [...new Set(files.map(({ path }) => path))];
}

/** `+3 −1` over all files. */
export function size(files: readonly Pick<FilePreview, "additions" | "deletions">[]): string {
  const sum = (pick: (file: Pick<FilePreview, "additions" | "deletions">) => number): number => files.reduce((total, file) => total + pick(file), 0);
  return `+${String(sum((file) => file.additions))} −${String(sum((file) => file.deletions))}`;
}

/** Of VS Code; any other operation is a modification. */
export const operationIcons: Readonly<Record<string, string>> = { create: "diff-added", create_directory: "new-folder", delete: "diff-removed", move: "diff-renamed" };

/** What you should know of what lies beneath a dialog. */
export const beneathNotes: Readonly<Record<"unchanged" | "updated" | "moved" | "conflict", string | undefined>> = {
  unchanged: undefined,
  updated: "updated: what it is based on changed; review it again",
  moved: "moved: the same change, elsewhere in the file",
  conflict: "changed since: your text will be merged and shown again",
};
