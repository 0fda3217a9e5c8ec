// The hunks of a proposed file, and the text that some of them make: what of it is taken is put in, the rest stays as it
// is. Pure; a line has its line feed with it, so that a last line without one is a line like any other.

import type { FilePreview } from "./protocol";

export interface Hunk {
  id: string;
  header: string;
  /** What stands in the header behind its numbers: mostly the line of the function that it is in. */
  heading: string;
  /** Where it begins in the text before, from 0. */
  start: number;
  /** Its lines there, those around the change among them, and the lines that replace them. */
  before: readonly string[];
  after: readonly string[];
  /** As a unified diff has them. */
  lines: readonly string[];
  /** How many lines at its start and at its end are only there for being around it. */
  head: number;
  tail: number;
  additions: number;
  deletions: number;
}

/** Lines of a text. */
export interface Stretch {
  start: number;
  end: number;
}

/**
 * Of a preview whose diff has all the hunks that it names; none where it has not. One without lines is the file as a whole,
 * whatever its diff shows: a file that is deleted.
 */
export function hunksOf({ diff, hunks }: Pick<FilePreview, "diff" | "hunks">): Hunk[] {
  const named = hunks ?? [];
  const blocks = blocksOf(diff);
  const hasLines = (header: string): boolean => header.startsWith("@@");
  const parts = named.filter(({ header }) => hasLines(header)).length;
  if (parts > 0 && parts !== blocks.length) {
    return [];
  }
  return named.map(({ id, header }) => hunk(id, header, hasLines(header) ? (blocks.shift() ?? []) : []));
}

/** Every stretch of a unified diff from its `@@` on; how long it is, its header says. */
function blocksOf(diff: string): string[][] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const blocks: string[][] = [];
  for (let at = 0; at < lines.length; ) {
    const span = spanOf(lines[at] ?? "");
    if (!span) {
      at += 1;
      continue;
    }
    const begin = at + 1;
    let { before, after } = span;
    for (at = begin; at < lines.length && (before > 0 || after > 0 || lines[at]?.startsWith("\\")); at += 1) {
      const mark = lines[at]?.[0] ?? " ";
      before -= mark === " " || mark === "-" ? 1 : 0;
      after -= mark === " " || mark === "+" ? 1 : 0;
    }
    blocks.push([lines[begin - 1] ?? "", ...lines.slice(begin, at)]);
  }
  return blocks;
}

function spanOf(line: string): { start: number; before: number; after: number } | undefined {
  const found = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
  if (!found) {
    return undefined;
  }
  const before = Number(found[2] ?? 1);
  return { start: Number(found[1]) - (before === 0 ? 0 : 1), before, after: Number(found[3] ?? 1) };
}

function hunk(id: string, header: string, [first = "", ...lines]: readonly string[]): Hunk {
  const [before, after]: [string[], string[]] = [[], []];
  let last: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("\\")) {
      last.forEach((side) => side.push((side.pop() ?? "").replace(/\n$/, ""))); // no newline at the end of the file
    } else {
      last = line.startsWith("+") ? [after] : line.startsWith("-") ? [before] : [before, after];
      last.forEach((side) => side.push(`${line.slice(1)}\n`));
    }
  }
  const changes = lines.map((line) => /^[+-]/.test(line));
  const around = lines.filter((line) => !line.startsWith("\\"));
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return {
    id,
    header,
    heading: first.replace(/^@@.*? @@ ?/, ""),
    start: spanOf(first)?.start ?? 0,
    before,
    after,
    lines,
    head: Math.max(0, changes.indexOf(true)),
    tail: Math.max(0, [...around].reverse().findIndex((line) => /^[+-]/.test(line))),
    additions: count("+"),
    deletions: count("-"),
  };
}

/** `before` with those hunks made that are taken. */
export function textOf(before: string, hunks: readonly Hunk[], takes: (hunk: Hunk) => boolean): string {
  const lines = linesOf(before);
  const out: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    out.push(...lines.slice(at, hunk.start), ...(takes(hunk) ? hunk.after : hunk.before));
    at = hunk.start + hunk.before.length;
  }
  return [...out, ...lines.slice(at)].join("");
}

/** Where a hunk stands in the text that the taken ones make; without the lines around it. */
export function standsAt(hunks: readonly Hunk[], wanted: Hunk, takes: (hunk: Hunk) => boolean): Stretch {
  const earlier = hunks.slice(0, hunks.indexOf(wanted)).filter(takes);
  const start = earlier.reduce((line, { before, after }) => line + after.length - before.length, wanted.start);
  const { length } = takes(wanted) ? wanted.after : wanted.before;
  return { start: start + wanted.head, end: start + length - wanted.tail };
}

/**
 * Finds one side of a hunk in a text that somebody wrote in: with as many of the lines around it as fit, nearest to where
 * it is expected. Without any of them it must be the only place.
 */
export function find(text: string, { head, tail, before, after }: Hunk, side: "before" | "after", near: number): Stretch | undefined {
  const lines = linesOf(text).map(bare);
  const whole = (side === "before" ? before : after).map(bare);
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
  const place = find(text, hunk, take ? "before" : "after", near);
  if (!place) {
    return undefined;
  }
  const side = take ? hunk.after : hunk.before;
  const lines = linesOf(text);
  return [...lines.slice(0, place.start), ...side.slice(hunk.head, side.length - hunk.tail), ...lines.slice(place.end)].join("");
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
