// Several files in one editor, their diffs one below the other: VS Code's multi-file diff editor.

import { commands, type Uri } from "vscode";

/** A file before and after. */
export interface Pair {
  left: Uri;
  right: Uri;
}

/** In the active group, with the focus: VS Code has no other way. Its title buttons get the right side of the first file. */
export async function openStack(title: string, pairs: readonly Pair[]): Promise<void> {
  const resources = pairs.map(({ left, right }) => ({ originalUri: left, modifiedUri: right }));
  await commands.executeCommand("_workbench.openMultiDiffEditor", { title, multiDiffSourceUri: pairs[0]?.right, resources });
  await commands.executeCommand("workbench.action.keepEditor"); // else the next file that is looked at takes its place
}
