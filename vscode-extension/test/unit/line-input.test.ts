import assert from "node:assert/strict";
import { test } from "node:test";
import { LineInput } from "../../src/line-input";

const [left, right, up, down, home, end, del] = ["\u001b[D", "\u001b[C", "\u001b[A", "\u001b[B", "\u001b[H", "\u001b[F", "\u001b[3~"];

function typed(...keys: string[]): string {
  const input = new LineInput();
  keys.forEach((key) => input.take(key));
  const { before, after } = input.parts;
  return `${before.join("")}|${after.join("")}`;
}

test("a line is edited as in any other terminal", () => {
  assert.equal(typed("abc", left, left, "X"), "aX|bc");
  assert.equal(typed("abc", home, del, end, "\u007f"), "b|");
  assert.equal(typed("one two  ", "\u0017"), "one |");
  assert.equal(typed("one two", left, "\u0015"), "|o");
  assert.equal(typed("one two", "\u0001", right, "\u000b"), "o|");
  assert.equal(typed("日👍", "\u007f"), "日|", "a character is a character");
});

test("Enter gives the line, and what is pasted gives several", () => {
  const input = new LineInput();
  assert.deepEqual(input.take("one\r"), [{ kind: "line", text: "one" }]);
  assert.deepEqual(input.take("a\r\nb\nc"), [{ kind: "line", text: "a" }, { kind: "line", text: "b" }]);
  assert.equal(input.text, "c");
  assert.deepEqual(input.take("\r"), [{ kind: "line", text: "c" }]);
  assert.deepEqual(input.take("\r"), [{ kind: "line", text: "" }], "an empty line is a line");
});

test("Ctrl+C interrupts and throws the line away", () => {
  const input = new LineInput();
  assert.deepEqual(input.take("half\u0003"), [{ kind: "interrupt" }]);
  assert.equal(input.isEmpty, true);
});

test("earlier lines come back", () => {
  const input = new LineInput();
  input.take("one\rtwo\rtwo\r\r");
  const recalled = [up, up, up, down, down].map((key) => {
    input.take(key);
    return input.text;
  });
  assert.deepEqual(recalled, ["two", "one", "one", "two", ""]);
});

test("other keys and control characters write nothing", () => {
  assert.equal(typed("a", "\u001b[15~", "\u001bOP", "\u001b[5~", "\u0000", "\u0007", "\u001bx", "\u001b"), "a|");
});
