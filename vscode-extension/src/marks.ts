// Which lines an agent changed and the user has not yet accepted, by file. The marks move with the text: with what is typed in
// an editor, which tells of it in places within lines, and with a later change of an agent on disk. Pure; gutter.ts draws them.

import type { LineSpan, Range } from "./protocol";

/** Who made a change, and what it is called. */
export interface Maker {
  callId: string;
  agent: string;
  title: string;
  /** RFC 3339. */
  time: string;
}

/** Lines from `start`, `end` not among them; of lines that were removed both are the line that came up to their place. */
export interface LineMark {
  start: number;
  end: number;
  kind: "added" | "changed" | "removed";
  /** How many lines stood there before; nobody says where it is not known. */
  was?: number;
  by: Maker;
}

export class Marks {
  private readonly files = new Map<string, readonly LineMark[]>();

  /** Addresses of files that have any. */
  get uris(): readonly string[] {
    return [...this.files.keys()];
  }

  of(uri: string): readonly LineMark[] {
    return this.files.get(uri) ?? [];
  }

  /** The mark at a line; one of removed lines counts for the lines on both sides of it, if there is no other. */
  at(uri: string, line: number): LineMark | undefined {
    const marks = this.of(uri);
    return (
      marks.find(({ start, end }) => start <= line && line < end) ??
      marks.find(({ start, end }) => start === end && (line === start || line === start - 1))
    );
  }

  /**
   * A change set of an agent wrote these lines. `followed`: the text is open in an editor, so older marks have moved with
   * it already.
   */
  add(uri: string, lines: readonly LineSpan[], by: Maker, followed: boolean): void {
    const spans = [...lines].sort((one, other) => one.start - other.start);
    if (!followed) {
      const older = spans.reduce<readonly LineMark[]>((marks, { start, end, removed }) => {
        const before = removed ?? end - start;
        return marks.flatMap((mark) => moved(mark, { start, end: start + before, lines: end - start, whole: true }));
      }, this.of(uri));
      this.set(uri, older);
    }
    const fresh = spans.map(({ start, end, removed }): LineMark => ({ start, end, by, ...(removed === undefined ? {} : { was: removed }), kind: start === end ? "removed" : removed === 0 ? "added" : "changed" }));
    const kept = fresh.reduce<readonly LineMark[]>((marks, other) => marks.flatMap((mark) => without(mark, other)), this.of(uri));
    this.set(uri, [...kept, ...fresh].sort((one, other) => one.start - other.start));
  }

  /** The user, or anybody else, changed the text; whether that moved or ended a mark. */
  shift(uri: string, changes: readonly Replaced[]): boolean {
    const before = this.of(uri);
    // From the end of the text to its beginning, so that each still counts in lines as they were.
    const ordered = [...changes].sort((one, other) => other.start - one.start);
    const after = ordered.reduce((marks, change) => marks.flatMap((mark) => moved(mark, change)), before);
    this.set(uri, after);
    return after.length !== before.length || after.some(({ start, end }, index) => start !== before[index]?.start || end !== before[index].end);
  }

  /** The mark after a line, or before it, around the end of the file. */
  beside(uri: string, line: number, next: boolean): LineMark | undefined {
    const marks = this.of(uri);
    return next ? (marks.find(({ start }) => start > line) ?? marks[0]) : (marks.findLast(({ end, start }) => Math.max(start, end - 1) < line) ?? marks.at(-1));
  }

  /** One of them counts no more. */
  dropOne(uri: string, mark: LineMark): void {
    this.set(uri, this.of(uri).filter((other) => other !== mark));
  }

  drop(uri: string): boolean {
    return this.files.delete(uri);
  }

  /** Whether there were any. */
  dropCalls(callIds: ReadonlySet<string>, only?: string): boolean {
    const uris = (only === undefined ? this.uris : [only]).filter((uri) => this.of(uri).some(({ by }) => callIds.has(by.callId)));
    for (const uri of uris) {
      this.set(uri, this.of(uri).filter(({ by }) => !callIds.has(by.callId)));
    }
    return uris.length > 0;
  }

  /** Marks that were dropped and count again, as when an undo is taken back. */
  restore(uri: string, marks: readonly LineMark[]): void {
    this.set(uri, [...this.of(uri), ...marks].sort((one, other) => one.start - other.start));
  }

  /** A file, or all below a folder, is somewhere else now, or nowhere. */
  move(from: string, to?: string): void {
    for (const uri of this.uris.filter((key) => key === from || key.startsWith(`${from}/`))) {
      const marks = this.of(uri);
      this.files.delete(uri);
      if (to !== undefined) {
        this.set(to + uri.slice(from.length), marks);
      }
    }
  }

  private set(uri: string, marks: readonly LineMark[]): void {
    if (marks.length > 0) {
      this.files.set(uri, marks);
    } else {
      this.files.delete(uri);
    }
  }
}

/** What is left of a mark beside another one. */
function without(mark: LineMark, { start, end }: LineMark): LineMark[] {
  if (mark.start === mark.end) {
    return start <= mark.start && mark.end <= end ? [] : [mark];
  }
  const left = [{ ...mark, end: Math.min(mark.end, start) }, { ...mark, start: Math.max(mark.start, end) }];
  return end <= mark.start || mark.end <= start ? [mark] : left.filter((part) => part.start < part.end);
}

/** Where a mark is after a stretch of lines was replaced: nowhere if all of it went. */
function moved(mark: LineMark, { start, end, lines, whole }: Replaced): LineMark[] {
  const by = lines - (end - start);
  if (end <= mark.start) {
    return [{ ...mark, start: mark.start + by, end: mark.end + by }];
  }
  if (start >= mark.end) {
    return [mark];
  }
  if (whole && start <= mark.start && mark.end <= end) {
    return [];
  }
  if (start >= mark.start && end <= mark.end) {
    return [{ ...mark, end: mark.end + by }]; // what is typed between an agent's lines belongs to the stretch
  }
  const shared = whole ? 0 : 1; // a line of which only a part was replaced is still the agent's
  const cut = start < mark.start ? { start: start + lines - shared, end: mark.end + by } : { start: mark.start, end: start + shared };
  return cut.end > cut.start ? [{ ...mark, ...cut }] : [];
}

/** A stretch of lines that was replaced: `start` to `end` in the text before, by so many `lines`. */
interface Replaced {
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
