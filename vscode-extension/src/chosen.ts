// What of a proposal the user takes: hunks that are ticked, and what they wrote themselves. Pure. Whatever the choice, the
// right side shows exactly what it gives; a text that they wrote stays theirs, and a tick puts its hunk into it or takes it
// out again, where it still finds its place.

import { find, type Hunk, hunksOf, ownLines, size, standsAt, swap, textOf } from "./hunks";
import type { FilePreview, HunkLines } from "./protocol";

export class Chosen {
  private readonly hunks: ReadonlyMap<string, readonly Hunk[]>;
  private readonly left = new Set<Hunk>();
  private readonly own = new Map<string, string>();

  /** `former` is what was chosen of the same proposal before the text beneath it changed: a hunk that says the same stays as it was. */
  constructor(
    readonly files: readonly FilePreview[],
    former?: Chosen,
  ) {
    this.hunks = new Map(files.map((file) => [this.key(file), hunksOf(file)]));
    for (const [path, hunks] of this.hunks) {
      this.leaveAsBefore(hunks, former?.hunks.get(path) ?? [], former);
    }
  }

  /** What its hunks are found by: its path. What is done to a file as a whole beside its text, such as a move, comes after that, under a name of its own. */
  key(file: FilePreview): string {
    const first = this.files.find(({ path }) => path === file.path);
    return first === undefined || first.operation === file.operation ? file.path : `${file.path}\n${file.operation}`;
  }

  hunksOf(path: string): readonly Hunk[] {
    return this.hunks.get(path) ?? [];
  }

  takes(hunk: Hunk): boolean {
    return !this.left.has(hunk);
  }

  get all(): readonly Hunk[] {
    return [...this.hunks.values()].flat();
  }

  get taken(): readonly Hunk[] {
    return this.all.filter((hunk) => this.takes(hunk));
  }

  /** What a yes is for, by its ids on the wire: what cannot be chosen of is made as a whole. */
  get ids(): readonly string[] {
    return this.files.flatMap((file) => {
      const hunks = this.hunksOf(this.key(file));
      return (hunks.length > 0 ? hunks.filter((hunk) => this.takes(hunk)) : (file.hunks ?? [])).map(({ id }) => id);
    });
  }

  /** Whether there is anything to choose: a single hunk is approved or not. */
  get isOpen(): boolean {
    return this.all.length > 1;
  }

  get isWhole(): boolean {
    return this.left.size === 0;
  }

  /** Nothing would come of a yes. */
  get isNothing(): boolean {
    return !this.isWhole && this.taken.length === 0 && this.own.size === 0 && this.files.every((file) => this.hunksOf(this.key(file)).length > 0);
  }

  /** `+3 −1` of what is ticked. */
  size(files = this.files): string {
    const hunks = files.map((file) => this.hunksOf(this.key(file)));
    return size(hunks.flat().every((hunk) => this.takes(hunk)) ? files : hunks.flat().filter((hunk) => this.takes(hunk)));
  }

  get edited(): ReadonlyMap<string, string> {
    return this.own;
  }

  /** What the right side shows. */
  right(path: string): string {
    return this.own.get(path) ?? this.given(path);
  }

  /** What the user wrote; undefined, or what the choice gives, when that is nothing of their own any more. */
  write(path: string, text: string | undefined): void {
    const hunk = text === undefined ? undefined : this.swapped(path, text);
    if (hunk) {
      this.left[this.takes(hunk) ? "add" : "delete"](hunk);
    }
    if (text === undefined || sameText(text, this.given(path))) {
      this.own.delete(path);
    } else {
      this.own.set(path, text);
    }
  }

  /** Gives the hunks that could not be changed, because what the user wrote stands in the way. */
  take(path: string, ids: readonly string[], on: boolean): Hunk[] {
    const wanted = this.hunksOf(path).filter((hunk) => ids.includes(hunk.id) && this.takes(hunk) !== on);
    return wanted.filter((hunk) => !this.takeOne(path, hunk, on));
  }

  /** Where a hunk stands on the right side. */
  place(path: string, hunk: Hunk): HunkLines {
    const expected = standsAt(this.hunksOf(path), hunk, (other) => this.takes(other));
    const own = this.own.get(path);
    return own === undefined ? expected : (find(own, hunk, this.takes(hunk) ? "new" : "old", expected.start) ?? expected);
  }

  /** A line of the right side in what the agent proposes, or the other way around. */
  carry(path: string, line: number, way: "to the proposal" | "from it"): number {
    const pairs = this.hunksOf(path).flatMap((hunk) => (hunk.after ? [[this.place(path, hunk), hunk.after] as const] : []));
    return carry(line, pairs.map(([shown, proposed]) => (way === "from it" ? [proposed, shown] : [shown, proposed])));
  }

  /** Whether the user wrote over it, so that it can be neither taken nor left by a tick. */
  isStuck(path: string, hunk: Hunk): boolean {
    const own = this.own.get(path);
    return own !== undefined && swap(own, hunk, !this.takes(hunk), 0) === undefined;
  }

  /** The hunk at a line of the right side, or of the left one; else the nearest one. */
  nearest(path: string, line: number, left = false): Hunk | undefined {
    const far = (hunk: Hunk): number => {
      const { start, end } = left ? standsAt([hunk], hunk, () => false) : this.place(path, hunk);
      return line < start ? start - line : Math.max(0, line - Math.max(start, end - 1));
    };
    return [...this.hunksOf(path)].sort((one, other) => far(one) - far(other))[0];
  }

  /** The text that the ticked hunks make, or would make if one more were ticked or unticked. */
  private given(path: string, other?: Hunk): string {
    const file = this.files.find((candidate) => candidate.path === path);
    const hunks = this.hunksOf(path);
    const takes = (hunk: Hunk): boolean => this.takes(hunk) !== (hunk === other);
    return hunks.every(takes) ? (file?.after ?? "") : textOf(file?.before ?? "", hunks, takes);
  }

  /** The hunk that a text differs by from the choice: VS Code's Revert Block, or an undo of it, is the same as its tick. */
  private swapped(path: string, text: string): Hunk | undefined {
    return sameText(text, this.given(path)) ? undefined : this.hunksOf(path).find((hunk) => hunk.before && sameText(text, this.given(path, hunk)));
  }

  private takeOne(path: string, hunk: Hunk, on: boolean): boolean {
    const own = this.own.get(path);
    const text = own === undefined ? undefined : swap(own, hunk, on, this.place(path, hunk).start);
    if (own !== undefined && text === undefined) {
      return false;
    }
    this.left[on ? "delete" : "add"](hunk);
    if (text !== undefined) {
      this.write(path, text);
    }
    return true;
  }

  private leaveAsBefore(hunks: readonly Hunk[], former: readonly Hunk[], chosen: Chosen | undefined): void {
    const same = (hunk: Hunk): string => JSON.stringify([ownLines(hunk, "old"), ownLines(hunk, "new"), hunk.before ? "" : hunk.header]);
    const rest = [...former];
    for (const hunk of hunks) {
      const at = rest.findIndex((other) => same(other) === same(hunk));
      const [other] = at < 0 ? [] : rest.splice(at, 1);
      if (other && chosen?.takes(other) === false) {
        this.left.add(hunk);
      }
    }
  }
}

/** As far behind the last hunk above it as it is, or as deep in its own. */
function carry(line: number, pairs: readonly (readonly [from: HunkLines, to: HunkLines])[]): number {
  const [from, to] = pairs.filter(([{ start }]) => start <= line).at(-1) ?? [];
  if (!from || !to) {
    return line;
  }
  return line < from.end ? Math.min(to.start + line - from.start, Math.max(to.start, to.end - 1)) : to.end + line - from.end;
}

/** Whatever ends its lines. */
export function sameText(one: string, other: string): boolean {
  return one.replaceAll("\r\n", "\n") === other.replaceAll("\r\n", "\n");
}
