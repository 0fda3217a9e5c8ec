// Hunks in words, for the rows of a list and for what stands beside a diff. Pure.

import type { Approval } from "./approvals";
import { short } from "./escape";
import type { Hunk } from "./hunks";

/** The line of the text before where it begins, and the first that it adds, or removes; its header where it is a file as a whole. */
export function hunkTitle({ lines, header, start, head }: Hunk): string {
  if (lines.length === 0) {
    return short(header, 80);
  }
  const said = ["+", "-"].flatMap((mark) => lines.filter((line) => line.startsWith(mark) && line.slice(1).trim() !== ""))[0];
  return `${String(start + head + 1)}: ${short(said?.slice(1).trim() ?? "blank lines", 80)}`;
}

/** `+1 −2` */
export function hunkSize({ lines, additions, deletions }: Hunk): string {
  return lines.length === 0 ? "" : `+${String(additions)} −${String(deletions)}`;
}

/** `3 of 5`; empty when all of it is taken. */
export function share(taken: number, all: number): string {
  return taken === all ? "" : `${String(taken)} of ${String(all)}`;
}

/** `Approve 3 of 5`, or `Approve all 5`. */
export function yes({ isReview, chosen }: Approval): string {
  const all = chosen.all.length;
  return chosen.isNothing ? "Nothing is ticked" : `${isReview ? "Apply" : "Approve"} ${share(chosen.taken.length, all) || `all ${String(all)}`}`;
}

/** Beside the place of a hunk that is not taken. */
export function leftOut(hunk: Hunk): string {
  return ["left out", hunkSize(hunk)].filter(Boolean).join(": ");
}
