// A line that a user types for a program which has no terminal: it is edited here and sent with Enter. Pure; keys come in
// as a terminal sends them. What the line looks like is process-terminal.ts's business.

export type LineEvent = { kind: "line"; text: string } | { kind: "interrupt" };

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
    switch (character) {
      case "\r":
      case "\n":
        return { kind: "line", text: this.finish() };
      case "\u0003":
        this.write("");
        return { kind: "interrupt" };
      case "\u007f":
      case "\b":
        this.before.pop();
        return undefined;
      case "\u0001":
        this.after.unshift(...this.before.splice(0));
        return undefined;
      case "\u0005":
        this.before.push(...this.after.splice(0));
        return undefined;
      case "\u0015":
        this.before = [];
        return undefined;
      case "\u000b":
        this.after = [];
        return undefined;
      case "\u0017":
        this.before = Array.from(this.before.join("").replace(/\S+\s*$/, ""));
        return undefined;
      default:
        if (character === "\t" || !/\p{Cc}/u.test(character)) {
          this.insert(character);
        }
        return undefined;
    }
  }

  private steer(pressed: string): void {
    const move = /(?:\[|O)(?:1|4|3|7|8)?(?:;5)?([A-Z~])$/.exec(pressed)?.[1];
    switch (pressed.endsWith("~") ? pressed.slice(-2) : move) {
      case "A":
        this.recall(1);
        return undefined;
      case "B":
        this.recall(-1);
        return undefined;
      case "C":
        this.before.push(...this.after.splice(0, 1));
        return;
      case "D":
        this.after.unshift(...this.before.splice(-1));
        return;
      case "H":
      case "1~":
      case "7~":
        this.after.unshift(...this.before.splice(0));
        return;
      case "F":
      case "4~":
      case "8~":
        this.before.push(...this.after.splice(0));
        return;
      case "3~":
        this.after.shift();
    }
  }

  private insert(character: string): void {
    if (this.before.length + this.after.length < longestLine) {
      this.before.push(character);
    }
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
