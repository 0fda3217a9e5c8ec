import assert from "node:assert/strict";
import { test } from "node:test";
import { TerminalText } from "../../src/terminal-text";

const shown = (text: string): string => new TerminalText().take(text);
const esc = "\u001b";

/** What a program could print to harm whoever looks at it, and what is left of it. */
const hostile: [what: string, text: string, left: string][] = [
  ["a title", `a${esc}]0;sudo make me\u0007b`, "ab"],
  ["a title, ended by ST", `a${esc}]2;x${esc}\\b`, "ab"],
  ["the clipboard", `a${esc}]52;c;cm0gLXJmIH4K\u0007b`, "ab"],
  ["a link", `${esc}]8;;https://evil.example/${esc}\\docs${esc}]8;;${esc}\\`, "docs"],
  ["VS Code's own marks of a shell", `${esc}]633;E;rm -rf ~\u0007${esc}]633;C\u0007${esc}]133;A\u0007`, ""],
  ["colours of the palette", `${esc}]4;1;?\u0007${esc}]10;?\u0007${esc}]11;#000000\u0007`, ""],
  ["an image", `${esc}]1337;File=inline=1:AAAA\u0007${esc}Pq#0;2;0;0;0~-${esc}\\x`, "x"],
  ["what terminal are you", `${esc}[c${esc}[>c${esc}[=c${esc}Z${esc}[>q`, ""],
  ["where is the cursor", `${esc}[6n${esc}[?6n${esc}[5n`, ""],
  ["what mode, what setting", `${esc}[?2004$p${esc}P$qm${esc}\\${esc}P+q544e${esc}\\`, ""],
  ["the window", `${esc}[21t${esc}[14t${esc}[3;0;0t${esc}[8;500;500t`, ""],
  ["mouse, bracketed paste, other screen", `${esc}[?1000h${esc}[?1006h${esc}[?2004h${esc}[?1049h${esc}[?25l`, ""],
  ["reset", `${esc}c${esc}[!p`, ""],
  ["saved cursor, which the line one types rests on", `${esc}7${esc}8${esc}[s${esc}[u`, ""],
  ["scrolling region, tabs, insert mode", `${esc}[1;1r${esc}[3g${esc}[4h${esc}D${esc}M${esc}E${esc}H`, ""],
  ["character sets", `${esc}(0qqq${esc}(B\u000eqqq\u000f`, "qqqqqq"],
  ["the history", `a${esc}[3Jb`, "ab"],
  ["characters that say what follows is repeated", `${esc}[99999999b`, ""],
  ["text that cannot be seen", `${esc}[8mhidden${esc}[0m`, `hidden${esc}[0m`],
  ["the same among others", `${esc}[1;8;31mx`, `${esc}[1;31mx`],
  ["blinking", `${esc}[5mx${esc}[6my`, "xy"],
  ["C1 controls", "a\u009b31mb\u009d0;t\u0007c\u0090x\u009cd", "a31mb0;tcxd"],
  ["bell, NUL, vertical tab, form feed, delete", "a\u0007\u0000\u000b\u000c\u007fb", "ab"],
  ["a line turned around", "a\u202etxt.exe\u2066x", "a\\u{202e}txt.exe\\u{2066}x"],
  ["a separator that is no line feed", "a\u2028b", "a\\u{2028}b"],
  ["a sequence within a sequence", `${esc}[3${esc}]0;t\u00071mx`, "1mx"],
  ["a line feed within a sequence", `${esc}[3\n1mx`, "\r\n1mx"],
  ["a private colour", `${esc}[?31mx${esc}[>4;2mx`, "xx"],
  ["a colour with blanks", `${esc}[31 mx${esc}[1 qx`, "xx"],
  ["a number that takes for ever", `${esc}[999999999999B`, `${esc}[9999B`],
];

for (const [what, text, left] of hostile) {
  test(`of ${what} nothing harmful is left`, () => {
    assert.equal(shown(text), left);
    assert.equal(pieces(text, 1).join(""), left, "in pieces of one character");
  });
}

test("nothing but colours and movement ever begins with an escape", () => {
  const rest = /\u001b(?!\[[0-9;:]*[ABCDEFGHJKdfm])|[\u0080-\u009f]/u; // eslint-disable-line no-control-regex -- it looks for them
  const alphabet = [esc, "[", "]", "P", "_", "\\", "0", "3", "8", ";", ":", "?", ">", " ", "$", "m", "n", "c", "t", "h", "J", "H", "\u0007", "\u009b", "\u009c", "\n", "x"];
  let seed = 42;
  const next = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  for (let round = 0; round < 4000; round++) {
    const text = Array.from({ length: 12 }, () => alphabet[Math.floor(next() / 65_536) % alphabet.length]).join("");
    const out = pieces(text, 1 + (round % 5)).join("");
    assert.doesNotMatch(out, rest, JSON.stringify(text));
    assert.equal(out, shown(text), JSON.stringify(text));
  }
});

test("what people want to see stays: colours, bars that draw themselves anew, any script", () => {
  for (const text of [`${esc}[32m✓${esc}[39m ok`, `${esc}[38;5;208mx${esc}[48;2;1;2;3my${esc}[m`, `${esc}[4:3mcurly`, "10%\r20%\r", `${esc}[2K${esc}[1A${esc}[10G`, "größer → 日本 👩\u200d💻\t|\b"]) {
    assert.equal(shown(text), text);
  }
  assert.equal(shown(`${esc}[38;5;8mgrey${esc}[48;5;5m`), `${esc}[38;5;8mgrey${esc}[48;5;5m`, "8 and 5 are colours here");
});

test("line ends become a terminal's, also between two pieces", () => {
  assert.equal(shown("a\nb\r\nc"), "a\r\nb\r\nc");
  assert.deepEqual(pieces("a\r\nb", 2), ["a\r", "\r\nb"]);
});

test("a text that never ends hides no more than its line, and no more than 4 kB", () => {
  assert.equal(shown(`${esc}]0;oops\nnext`), "\r\nnext");
  assert.match(shown(`${esc}]0;${"x".repeat(5000)}y`), /^x+y$/);
  assert.match(shown(`${esc}[${"1;".repeat(500)}mx`), /x$/);
});

test("it is known whether a line has begun", () => {
  const text = new TerminalText();
  const after = (piece: string): boolean => {
    text.take(piece);
    return text.atLineStart;
  };
  assert.deepEqual(["a", `${esc}[0m`, "\n", `${esc}[31m`, "50%\r", "\n"].map(after), [false, false, true, true, false, true]);
});

function pieces(text: string, length: number): string[] {
  const filter = new TerminalText();
  return (text.match(new RegExp(`[^]{1,${String(length)}}`, "gu")) ?? []).map((piece) => filter.take(piece));
}
