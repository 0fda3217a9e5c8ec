// Text that an agent chose, made safe to show: nothing in it may hide, reorder or break out of its line.

import { unseenRanges } from "./unseen.generated";

/** Control, format, unassigned and private characters, odd spaces, and everything that renders as nothing. */
const unseen = new RegExp(`[\\u{0}-\\u{1f}\\u{7f}${unseenRanges.replace(/[0-9a-f]+/g, "\\u{$&}").replace(/\s+/g, "")}]`, "gu");

const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u001b": "\\e", "\0": "\\0" };

/** One line: every invisible character is written out as `\u{…}`. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => named[character] ?? written(character));
}

/** For where VS Code makes links of `[text](command:…)`: none is one any more. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** For where VS Code makes icons of `$(name)`, as in the status bar and in lists to choose from: none is one any more. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", "\\$(");
}

/** Several lines: as `visible`, but line feeds stay. */
export function visibleLines(text: string): string[] {
  return text.split("\n").map(visible);
}

/** Several lines as one paste into a terminal: nothing in them ends the paste or steers the terminal. */
export function pasted(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return `\u001b[200~${lines.map((line) => line.split("\t").map(visible).join("\t")).join("\n")}\u001b[201~`;
}

/** One line of at most `limit` characters, cut in the middle so that both ends can be read. */
export function short(text: string, limit: number): string {
  const characters = Array.from(visible(text));
  if (characters.length <= limit) {
    return characters.join("");
  }
  const head = Math.ceil((limit - 1) * 0.7);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (limit - 1 - head)).join("")}`;
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
