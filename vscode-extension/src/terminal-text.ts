// What a program printed, made safe for a terminal. Pure. A terminal obeys what it is sent: it can be told to change its
// title, to fill the clipboard, to type answers back into the program, to show a link that leads elsewhere. So only colours and
// plain movement pass; of the rest nothing does, and characters that turn the order of a line around are written out.

/** Of these final letters `ESC [ numbers letter` passes: moves of the cursor, and erasing from it on. */
const moves = new Set("ABCDEFGHJKdf");

/** No screen is larger; a larger number only costs time. */
const largestMove = 9999;
const longestSequence = 64;
/** A title or clipboard that does not end within this was none. */
const longestString = 4096;

const escape = "\u001b";

/** Right-to-left marks, overrides and isolates, interlinear marks, tags, line and paragraph separators. */
const turning = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
/** Everything that steers a terminal, but line feed, return, tab and backspace. */
// eslint-disable-next-line no-control-regex -- they are what it is about
const controls = /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** Keeps what is between two pieces: a sequence may begin in one and end in the next. */
export class TerminalText {
  private rest = "";
  /** Whether the cursor stands on a line that nothing was written to. */
  atLineStart = true;

  take(text: string): string {
    const all = this.rest + text;
    this.rest = "";
    let out = "";
    let at = 0;
    while (at < all.length) {
      const next = all.indexOf(escape, at);
      out += plain(all.slice(at, next < 0 ? all.length : next));
      if (next < 0) {
        break;
      }
      const sequence = read(all, next);
      if (sequence.unfinished) {
        this.rest = all.slice(next);
        break;
      }
      out += sequence.shown;
      at = sequence.end;
    }
    this.follow(out);
    return out;
  }

  private follow(out: string): void {
    if (out !== "") {
      // A colour moves nothing; any other movement leaves the cursor who knows where.
      // eslint-disable-next-line no-control-regex -- it is what begins a colour
      const bare = out.replace(/\u001b\[[0-9;:]*m/g, "");
      this.atLineStart = bare === "" ? this.atLineStart : bare.endsWith("\n");
    }
  }
}

interface Sequence {
  end: number;
  shown: string;
  unfinished?: boolean;
}

function plain(text: string): string {
  return text
    .replace(controls, "")
    .replace(turning, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replace(/\r*\n/g, "\r\n");
}

function read(text: string, start: number): Sequence {
  const kind = text[start + 1];
  switch (kind) {
    case undefined:
      return { end: start, shown: "", unfinished: true };
    case "[":
      return readControl(text, start);
    case "]": // title, clipboard, links
    case "P":
    case "X":
    case "^":
    case "_":
      return readString(text, start);
    default:
      return readShort(text, start);
  }
}

/** `ESC`, intermediates, one final: character sets, resets, saved cursors. None passes. */
function readShort(text: string, start: number): Sequence {
  const found = /^[ -/]*/.exec(text.slice(start + 1, start + longestSequence))?.[0].length ?? 0;
  const final = start + 1 + found;
  if (final >= text.length) {
    return { end: start, shown: "", unfinished: true };
  }
  return { end: /[0-~]/.test(text[final] ?? "") ? final + 1 : final, shown: "" };
}

function readControl(text: string, start: number): Sequence {
  const found = /^([0-?]*)([ -/]*)(.?)/s.exec(text.slice(start + 2, start + 2 + longestSequence));
  const [whole = "", parameters = "", intermediates = "", final = ""] = found ?? [];
  if (final === "") {
    const tooLong = whole.length >= longestSequence;
    return { end: start + 2 + whole.length, shown: "", unfinished: !tooLong };
  }
  if (!/[@-~]/.test(final)) {
    return { end: start + 2 + whole.length - final.length, shown: "" }; // broken off; what broke it is read by itself
  }
  const end = start + 2 + whole.length;
  if (intermediates !== "" || !/^[0-9;:]*$/.test(parameters)) {
    return { end, shown: "" };
  }
  return { end, shown: final === "m" ? colours(parameters) : moves.has(final) ? move(parameters, final) : "" };
}

function move(parameters: string, final: string): string {
  const numbers = parameters.split(/[;:]/).map((number) => (number === "" ? "" : String(Math.min(Number(number), largestMove))));
  const erasesHistory = final === "J" && numbers[0] === "3";
  return erasesHistory ? "" : `${escape}[${numbers.join(";")}${final}`;
}

/** Without blinking (5, 6) and without text that cannot be seen (8). */
function colours(parameters: string): string {
  const codes = parameters.split(";");
  const kept: string[] = [];
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? "";
    if (["38", "48", "58"].includes(code)) {
      const length = codes[at + 1] === "5" ? 3 : codes[at + 1] === "2" ? 5 : 1;
      kept.push(...codes.slice(at, at + length));
      at += length - 1;
    } else if (!["5", "6", "8"].includes(code.replace(/^0+(?=\d)/, "").split(":")[0] ?? "")) {
      kept.push(code);
    }
  }
  return kept.length === 0 ? "" : `${escape}[${kept.join(";")}m`;
}

/** Passed over up to its end; a line feed ends it as well, so that nothing more than a line can be hidden by it. */
function readString(text: string, start: number): Sequence {
  const from = start + 2;
  // eslint-disable-next-line no-control-regex -- they are what ends it
  const found = /[\u0007\u0018\u001a\u001b\u009c\n]/.exec(text.slice(from, from + longestString));
  if (!found) {
    return text.length - from >= longestString ? { end: from + longestString, shown: "" } : { end: start, shown: "", unfinished: true };
  }
  const end = from + found.index;
  if (found[0] === escape) {
    return text[end + 1] === undefined ? { end: start, shown: "", unfinished: true } : { end: text[end + 1] === "\\" ? end + 2 : end, shown: "" };
  }
  return { end: found[0] === "\n" ? end : end + 1, shown: "" };
}
