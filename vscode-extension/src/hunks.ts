// The files of a proposal and their hunks, and the text that some of them make: what of it is taken is put in, the rest stays as it
// is. Pure; a line has its line feed with it, so that a last line without one is a line like any other.

import type { FilePreview, HunkLines, HunkPreview } from "./protocol";

export interface Hunk extends HunkPreview {
  /** Its lines in the two texts, those around it among them; none of a file as a whole. */
  old: readonly string[];
  new: readonly string[];
}

export function hunksOf({ before, after, hunks }: Pick<FilePreview, "before" | "after" | "hunks">): Hunk[] {
  const [old, proposed] = [linesOf(before), linesOf(after)];
  const around = (lines: readonly string[], { head, tail }: HunkPreview, range?: HunkLines): string[] => (range ? lines.slice(range.start - head, range.end + tail) : []);
  return (hunks ?? []).map((hunk) => ({ ...hunk, old: around(old, hunk, hunk.before), new: around(proposed, hunk, hunk.after) }));
}

/** Whether it is the file as a whole: deleted, moved, made executable. */
export function isWhole(hunk: Hunk): boolean {
  return hunk.before === undefined;
}

/** `+1 −2` */
export function hunkSize(hunk: Hunk): string {
  return isWhole(hunk) ? "" : size([hunk]);
}

/** Its own lines on one side. */
export function ownLines({ head, tail, ...hunk }: Hunk, side: "old" | "new"): readonly string[] {
  return hunk[side].slice(head, hunk[side].length - tail);
}

/** `before` with those hunks made that are taken. */
export function textOf(before: string, hunks: readonly Hunk[], takes: (hunk: Hunk) => boolean): string {
  const lines = linesOf(before);
  const out: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    if (hunk.before && takes(hunk)) {
      out.push(...lines.slice(at, hunk.before.start), ...ownLines(hunk, "new"));
      at = hunk.before.end;
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

/** Where a hunk stands in the text that the taken ones make. */
export function standsAt(hunks: readonly Hunk[], wanted: Hunk, takes: (hunk: Hunk) => boolean): HunkLines {
  const earlier = hunks.slice(0, hunks.indexOf(wanted)).filter(takes);
  const start = earlier.reduce((line, hunk) => line + hunk.new.length - hunk.old.length, wanted.before?.start ?? 0);
  return { start, end: start + ownLines(wanted, takes(wanted) ? "new" : "old").length };
}

/**
 * Finds one side of a hunk in a text that somebody wrote in: with as many of the lines around it as fit, nearest to where
 * it is expected. Without any of them it must be the only place.
 */
export function find(text: string, hunk: Hunk, side: "old" | "new", near: number): HunkLines | undefined {
  const { head, tail } = hunk;
  const lines = linesOf(text).map(bare);
  const whole = hunk[side].map(bare);
  for (let around = Math.max(head, tail); around >= 0; around -= 1) {
    const [cut, end] = [Math.max(0, head - around), whole.length - Math.max(0, tail - around)];
    const pattern = whole.slice(cut, end);
    const places = pattern.length === 0 ? [] : occurrences(lines, pattern);
    const [nearest, another] = places.sort((one, other) => Math.abs(one + head - cut - near) - Math.abs(other + head - cut - near));
    if (nearest !== undefined && (around > 0 || another === undefined)) {
      const start = nearest + head - cut;
      return { start, end: start + whole.length - head - tail };
    }
  }
  return undefined;
}

/** The text with a hunk put in, or taken out again; undefined where what somebody wrote stands in the way. */
export function swap(text: string, hunk: Hunk, take: boolean, near: number): string | undefined {
  const place = find(text, hunk, take ? "old" : "new", near);
  if (!place) {
    return undefined;
  }
  const lines = linesOf(text);
  return [...lines.slice(0, place.start), ...ownLines(hunk, take ? "new" : "old"), ...lines.slice(place.end)].join("");
}

/** As a unified diff has it, for people. */
export function diffLines(hunk: Hunk): string[] {
  const signed = (sign: string, lines: readonly string[]): string[] => lines.map((line) => sign + line.replace(/\n$/, ""));
  const around = hunk.old.slice(hunk.old.length - hunk.tail);
  return [...signed(" ", hunk.old.slice(0, hunk.head)), ...signed("-", ownLines(hunk, "old")), ...signed("+", ownLines(hunk, "new")), ...signed(" ", around)];
}

function occurrences(lines: readonly string[], pattern: readonly string[]): number[] {
  const [first] = pattern;
  return lines.flatMap((line, at) => (line === first && pattern.every((wanted, index) => lines[at + index] === wanted) ? [at] : []));
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** An editor has one kind of line end for the whole file. */
function bare(line: string): string {
  return line.replace(/\r\n$/, "\n");
}

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
