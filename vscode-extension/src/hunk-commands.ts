// Taking and leaving hunks: in the list, at the cursor of a diff, by key or from the menu of a line number.

import { commands, Uri, window } from "vscode";
import type { Approval, Approvals } from "./approvals";
import type { Handler, Workbench } from "./commands";
import { say } from "./notices";
import { pageAddress } from "./pages";
import { address, approvalIdOf, original, pathOf, proposal } from "./schemes";

export const hunkCommands: Record<string, Handler> = {
  "pillion.chooseHunks": chooseHunks,
  "pillion.toggleHunk": toggleHunk,
};

/** Says so if what the human wrote stands in the way. */
export function takeHunks(approvals: Approvals, { id }: Approval, path: string, ids: readonly string[], on: boolean): void {
  const stuck = approvals.take(id, path, ids, on);
  if (stuck > 0) {
    const which = stuck === 1 ? "a hunk stays as it is" : `${String(stuck)} hunks stay as they are`;
    window.setStatusBarMessage(`$(warning) Pillion: ${which}, because you wrote over ${stuck === 1 ? "it" : "them"}; change the text itself`, 6000);
  }
}

/** Tells the menus which tabs have a part to choose, of which one is chosen, and which only review. */
export function tellMenus(approvals: readonly Approval[]): void {
  const tabs = (condition: (approval: Approval) => boolean): string[] => approvals.filter(condition).flatMap(addresses);
  void commands.executeCommand("setContext", "pillion.choosable", tabs(({ chosen }) => chosen.isOpen));
  void commands.executeCommand("setContext", "pillion.partlyTaken", tabs(({ chosen }) => !chosen.isWhole));
  void commands.executeCommand("setContext", "pillion.messages", tabs(({ message }) => message !== undefined));
  void commands.executeCommand("setContext", "pillion.reviews", tabs(({ isReview }) => isReview));
}

function addresses(approval: Approval): string[] {
  const sides = approval.texts.flatMap(({ path }) => [original, proposal].map((scheme) => address(scheme, approval.id, path)));
  return [...sides, pageAddress(approval)].map(String);
}

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
    void say.information("There is no choice to make here: it is approved as a whole, or not.");
  }
}

function placeOf(clicked: unknown): { uri: Uri; line: number } | undefined {
  if (typeof clicked === "object" && clicked !== null && "lineNumber" in clicked && "uri" in clicked && clicked.uri instanceof Uri) {
    return { uri: clicked.uri, line: Number(clicked.lineNumber) - 1 };
  }
  const editor = window.activeTextEditor;
  return editor && { uri: editor.document.uri, line: editor.selection.active.line };
}
