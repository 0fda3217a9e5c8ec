// Taking and leaving hunks, wherever it is asked for, and what the menus of the diffs depend on.

import { commands, window } from "vscode";
import { yesOf, yesWords } from "./answer-words";
import type { Approval, Approvals } from "./approvals";
import { pageAddress } from "./pages";
import { address, original, proposal } from "./schemes";

/** Says so if what the user wrote stands in the way. */
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
  void commands.executeCommand("setContext", "pillion.ownWords", tabs((approval) => yesWords.includes(yesOf(approval))));
  yesWords.forEach((word) => void commands.executeCommand("setContext", `pillion.says${word}`, tabs((approval) => yesOf(approval) === word)));
}

/** Of everything that shows it. */
export function addresses(approval: Approval): string[] {
  const sides = approval.texts.flatMap(({ path }) => [original, proposal].map((scheme) => address(scheme, approval.id, path)));
  return [...sides, pageAddress(approval)].map(String);
}
