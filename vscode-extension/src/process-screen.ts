// What a terminal shows of a process that has no terminal: its text, made safe, and below it the line that a user is typing,
// which goes to the process with Enter. Pure: it gives what is to be written to the terminal. The line never wraps, so it can
// be taken away exactly when text comes in between.

import { visible } from "./escape";
import type { Printed } from "./processes";
import type { ProcessInfo } from "./protocol";

/** Of text that comes faster than it is drawn only the end is drawn; characters. */
export const drawnAtOnce = 64 * 1024;

const prompt = "› ";
const dim = (text: string): string => `\u001b[0;2m${text}\u001b[0m`;
/** Keeps the place, with a line below it to type in. */
const keepPlace = "\u001bD\u001bM\u001b7\r\n";
const backToPlace = "\r\u001b[K\u001b8";

export class ProcessScreen {
  /** Whether the cursor stands on a line that nothing was written to. */
  private atLineStart = true;
  private readonly input = new LineInput();
  private waiting = "";
  private passedOver = 0;
  private typing = false;
  private ended = false;

  constructor(
    private readonly info: ProcessInfo,
    public columns = 80,
  ) {}

  /** What the terminal begins with. */
  head(): string {
    const [who, name] = [visible(this.info.agent.name), visible(this.info.processId)];
    const folder = visible(this.info.cwd);
    const where = ["", "."].includes(folder) ? "" : ` in ${folder}`;
    const lines = [
      `\u001b[1m$ ${visible(this.info.command)}\u001b[0m`,
      dim(`${who} started this as ${name}${where}.`),
      dim("Lines typed here go to it. Ctrl+C interrupts it, closing this stops it."),
    ];
    return `${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Takes what was kept of earlier text: all of it is shown. */
  replay(pieces: readonly Printed[]): void {
    pieces.forEach((piece) => this.add(piece));
  }

  /** Takes text that `draw` will show. */
  print(piece: Printed): void {
    this.add(piece);
    const excess = this.waiting.length - drawnAtOnce;
    if (excess > 0) {
      const cut = this.waiting.indexOf("\n", excess) + 1 || excess;
      this.passedOver += cut;
      this.waiting = this.waiting.slice(cut);
    }
  }

  end(exitCode: number | undefined): void {
    if (!this.ended) {
      this.ended = true;
      this.mark(ending(exitCode));
    }
  }

  /** Everything since it was last called. */
  draw(): string {
    if (this.waiting === "") {
      return "";
    }
    const passedOver = this.passedOver > 0 ? `\u001b[0m\r\n${dim(`[${bytes(this.passedOver)} skipped: it prints too fast]`)}\r\n` : "";
    const text = passedOver + this.waiting;
    this.waiting = "";
    this.passedOver = 0;
    return this.hide() + text + this.show();
  }

  /** Keys; what they give is for the process. Text that waits is drawn first, so that the line lies below it. */
  type(data: string): { shown: string; events: LineEvent[] } {
    if (this.ended) {
      return { shown: this.draw(), events: [] };
    }
    let shown = this.draw() + this.hide();
    const events = this.input.take(data);
    for (const event of events) {
      shown += event.kind === "line" ? `${visible(event.text)}\r\n` : "^C\r\n";
      this.atLineStart = true;
    }
    return { shown: shown + this.show(), events };
  }

  /** Something to know that the process did not print. */
  note(text: string): void {
    this.mark(visible(text));
  }

  private add({ gap, text }: Printed): void {
    if (gap > 0) {
      this.mark(`${bytes(gap)} not shown`);
    }
    this.waiting += this.take(text);
  }

  /** The sidecar lets colours and plain movement pass, and nothing else that steers a terminal. */
  private take(text: string): string {
    // A colour moves nothing; any other movement leaves the cursor who knows where.
    // eslint-disable-next-line no-control-regex -- it is what begins a colour
    const bare = text.replace(/\u001b\[[0-9;:]*m/g, "");
    this.atLineStart = bare === "" ? this.atLineStart : bare.endsWith("\n");
    return text.replace(/\r*\n/g, "\r\n");
  }

  private mark(text: string): void {
    this.waiting += `${this.atLineStart ? "" : "\r\n"}${dim(`[${text}]`)}\r\n`;
    this.atLineStart = true;
  }

  private hide(): string {
    const hidden = this.typing ? backToPlace : "";
    this.typing = false;
    return hidden;
  }

  private show(): string {
    if (this.ended || this.input.isEmpty) {
      return "";
    }
    this.typing = true;
    const { before, after } = fit(this.input.parts, this.columns - prompt.length - 1);
    const back = width(after) > 0 ? `\u001b[${String(width(after))}D` : "";
    return `${this.atLineStart ? "\u001b7" : keepPlace}${dim(prompt)}${before}${after}${back}`;
  }
}

/** As much of the line around the cursor as a row of the terminal holds. */
function fit({ before, after }: LineInput["parts"], columns: number): { before: string; after: string } {
  let room = Math.max(8, columns);
  const head: string[] = [];
  for (const character of [...before].reverse()) {
    const shown = visible(character);
    room -= width(shown);
    if (room < 0) {
      head.unshift("…");
      break;
    }
    head.unshift(shown);
  }
  const tail: string[] = [];
  for (const character of after) {
    const shown = visible(character);
    room -= width(shown);
    if (room < 1) {
      break;
    }
    tail.push(shown);
  }
  return { before: head.join(""), after: tail.join("") };
}

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60\uffe0-\uffe6]/u;

/** Cells. */
function width(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (wide.test(character) ? 2 : /\p{M}/u.test(character) ? 0 : 1), 0);
}

export function ending(exitCode: number | undefined): string {
  return exitCode === undefined ? "ended" : `ended with exit code ${String(exitCode)}`;
}

/** `312 bytes`, `4.5 kB`, `12 MB`. */
export function bytes(count: number): string {
  if (count < 1000) {
    return count === 1 ? "1 byte" : `${String(count)} bytes`;
  }
  const [amount, unit] = count < 1_000_000 ? [count / 1000, "kB"] : [count / 1_000_000, "MB"];
  return `${amount < 10 ? amount.toFixed(1) : String(Math.round(amount))} ${unit}`;
}

type LineEvent = { kind: "line"; text: string } | { kind: "interrupt" };

const longestHistory = 50;
const longestLine = 100_000;

/** Keys that do something beyond writing; without the leading escape. */
// eslint-disable-next-line no-control-regex -- a key begins with it
const key = /^\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z]|.)?/s;

export class LineInput {
  private before: string[] = [];
  private after: string[] = [];
  private readonly history: string[] = [];
  private recalled = 0;
  private readonly toStart = (): unknown => this.after.unshift(...this.before.splice(0));
  private readonly toEnd = (): unknown => this.before.push(...this.after.splice(0));
  /** By the control character, or the end of the sequence. */
  private readonly keys: Readonly<Record<string, () => unknown>> = {
    "\u007f": () => this.before.pop(),
    "\b": () => this.before.pop(),
    "\u0001": this.toStart,
    "\u0005": this.toEnd,
    "\u0015": () => (this.before = []),
    "\u000b": () => (this.after = []),
    "\u0017": () => (this.before = Array.from(this.before.join("").replace(/\S+\s*$/, ""))),
    A: () => this.recall(1),
    B: () => this.recall(-1),
    C: () => this.before.push(...this.after.splice(0, 1)),
    D: () => this.after.unshift(...this.before.splice(-1)),
    H: this.toStart,
    "1~": this.toStart,
    "7~": this.toStart,
    F: this.toEnd,
    "4~": this.toEnd,
    "8~": this.toEnd,
    "3~": () => this.after.shift(),
  };

  get isEmpty(): boolean {
    return this.before.length + this.after.length === 0;
  }

  get text(): string {
    return [...this.before, ...this.after].join("");
  }

  /** Characters before and after the cursor. */
  get parts(): { before: readonly string[]; after: readonly string[] } {
    return { before: this.before, after: this.after };
  }

  /** Several keys may come at once, as when something is pasted. */
  take(data: string): LineEvent[] {
    const events: LineEvent[] = [];
    let rest = data;
    while (rest !== "") {
      const special = key.exec(rest)?.[0];
      const typed = special ?? String.fromCodePoint(rest.codePointAt(0) ?? 0);
      rest = rest.slice(typed.length + (typed === "\r" && rest.startsWith("\r\n") ? 1 : 0));
      if (special !== undefined) {
        this.steer(special);
        continue;
      }
      const event = this.press(typed);
      if (event) {
        events.push(event);
      }
    }
    return events;
  }

  private press(character: string): LineEvent | undefined {
    if (character === "\r" || character === "\n") {
      return { kind: "line", text: this.finish() };
    }
    if (character === "\u0003") {
      this.write("");
      return { kind: "interrupt" };
    }
    if (character !== "\t" && /\p{Cc}/u.test(character)) {
      this.keys[character]?.();
    } else if (this.before.length + this.after.length < longestLine) {
      this.before.push(character);
    }
    return undefined;
  }

  private steer(pressed: string): void {
    const move = /(?:\[|O)(?:1|4|3|7|8)?(?:;5)?([A-Z~])$/.exec(pressed)?.[1];
    this.keys[(pressed.endsWith("~") ? pressed.slice(-2) : move) ?? ""]?.();
  }

  private write(text: string): void {
    this.before = Array.from(text);
    this.after = [];
  }

  private finish(): string {
    const { text } = this;
    if (text !== "" && this.history.at(-1) !== text) {
      this.history.push(text);
      this.history.splice(0, this.history.length - longestHistory);
    }
    this.recalled = 0;
    this.write("");
    return text;
  }

  private recall(back: number): void {
    this.recalled = Math.max(0, Math.min(this.history.length, this.recalled + back));
    this.write(this.recalled === 0 ? "" : (this.history[this.history.length - this.recalled] ?? ""));
  }
}
