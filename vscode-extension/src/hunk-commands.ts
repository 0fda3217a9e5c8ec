// Taking and leaving hunks: in the list, at the cursor of a diff, by key or from the menu of a line number.

import { Uri, window } from "vscode";
import { takeHunks } from "./hunk-choice";
import { say } from "./notices";
import { approvalIdOf, original, pathOf } from "./schemes";
import type { Handler, Workbench } from "./workbench";

export const hunkCommands: Record<string, Handler> = {
  "pillion.chooseHunks": chooseHunks,
  "pillion.toggleHunk": toggleHunk,
};

async function chooseHunks({ approvals, front, waitingView }: Workbench, first: unknown): Promise<void> {
  const uri = first instanceof Uri ? first : undefined;
  const approval = approvals.get((uri && approvalIdOf(uri)) ?? front.focused ?? "");
  if (approval) {
    await waitingView.choose(approval, uri ? pathOf(uri) : "");
  }
}

/** From a link (which hunk), the menu of a line number (which line), or at the cursor. */
function toggleHunk({ approvals }: Workbench, ...[from, path, hunkId]: unknown[]): void {
  const place = typeof from === "string" ? undefined : placeOf(from);
  const approval = approvals.get(typeof from === "string" ? from : (approvalIdOf(place?.uri) ?? ""));
  const name = place ? pathOf(place.uri) : String(path);
  const hunk = place ? approval?.chosen.nearest(name, place.line, place.uri.scheme === original) : approval?.chosen.hunksOf(name).find(({ id }) => id === hunkId);
  if (approval?.chosen.isOpen && hunk) {
    takeHunks(approvals, approval, name, [hunk.id], !approval.chosen.takes(hunk));
  } else {
    void say.information("There are no hunks to choose here: approve or reject the whole.");
  }
}

function placeOf(clicked: unknown): { uri: Uri; line: number } | undefined {
  if (typeof clicked === "object" && clicked !== null && "lineNumber" in clicked && "uri" in clicked && clicked.uri instanceof Uri) {
    return { uri: clicked.uri, line: Number(clicked.lineNumber) - 1 };
  }
  const editor = window.activeTextEditor;
  return editor && { uri: editor.document.uri, line: editor.selection.active.line };
}
