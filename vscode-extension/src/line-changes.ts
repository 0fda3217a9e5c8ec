// Changes of a text, as an editor tells of them, in whole lines. Pure.

import type { Range } from "./protocol";

/** A stretch of lines that was replaced: `start` to `end` in the text before, by so many `lines`. */
export interface Replaced {
  start: number;
  end: number;
  lines: number;
  /** Whether it took whole lines, not places within them. */
  whole: boolean;
}

export interface TextChange {
  /** In the text before all changes of its event. */
  range: Range;
  text: string;
}

/** `lengthAfter` is how long a line is now. In the order of the text. */
export function replacedLines(changes: readonly TextChange[], lengthAfter: (line: number) => number): Replaced[] {
  let moved = 0;
  return [...changes]
    .sort((one, other) => one.range.start.line - other.range.start.line || one.range.start.character - other.range.start.character)
    .map((change) => {
      const { start, end } = change.range;
      const [added, last] = lineFeeds(change.text);
      const lastLine = start.line + moved + added;
      const lastColumn = last + (added === 0 ? start.character : 0);
      moved += added - (end.line - start.line);
      return replaced(change.range, added, lastColumn === lengthAfter(lastLine));
    });
}

function replaced({ start, end }: Range, added: number, toTheEnd: boolean): Replaced {
  if (start.character === 0 && end.character === 0) {
    return { start: start.line, end: end.line, lines: added, whole: true };
  }
  const nothingTaken = start.line === end.line && start.character === end.character;
  if (nothingTaken && toTheEnd) {
    return { start: start.line + 1, end: start.line + 1, lines: added, whole: true };
  }
  return { start: start.line, end: end.line + 1, lines: added + 1, whole: start.character === 0 && toTheEnd && end.line > start.line };
}

/** How many, and how long what follows the last of them is. */
function lineFeeds(text: string): [number, number] {
  const lines = text.split(/\r\n|\r|\n/);
  return [lines.length - 1, lines.at(-1)?.length ?? 0];
}
