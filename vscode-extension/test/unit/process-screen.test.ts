import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, drawnAtOnce, LineInput, ProcessScreen } from "../../src/process-screen";
import type { ProcessInfo } from "../../src/protocol";

const web: ProcessInfo = {
  sessionId: "s1", processId: "web", agent: { name: "claude", via: "mcp" }, pid: 7, command: "npm run dev", cwd: ".", running: true, started: "2026-11-21T17:00:00Z",
};
const esc = "\u001b";

function screen(columns = 80): ProcessScreen {
  return new ProcessScreen(web, columns);
}

function drawn(on: ProcessScreen, text: string, gap = 0): string {
  on.print({ gap, text });
  return on.draw();
}

/** Without colours. */
function bare(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, ""); // eslint-disable-line no-control-regex -- it is what begins a colour
}

test("it begins with the command and who started it, and nothing of that can hide", () => {
  const head = bare(new ProcessScreen({ ...web, command: "a\u001b]0;x\u0007\nb", agent: { name: "claude\u202e", via: "mcp" }, cwd: "src" }).head());
  assert.match(head, /^\$ a\\e\]0;x\\u\{7\}\\nb\r\nclaude\\u\{202e\} started this as web in src\./);
});

test("what it prints is shown, what was not sent is told on a line of its own", () => {
  const on = screen();
  assert.equal(drawn(on, "half"), "half");
  assert.equal(bare(drawn(on, "more\n", 1234)), "\r\n[1.2 kB not shown]\r\nmore\r\n");
  assert.equal(on.draw(), "", "nothing new");
});

test("its end is told, and then it takes no keys", () => {
  const on = screen();
  drawn(on, "bye\n");
  on.end(3);
  on.end(undefined);
  assert.equal(bare(on.draw()), "[ended with exit code 3]\r\n");
  assert.deepEqual(on.type("x\r"), { shown: "", events: [] });
});

test("a line that is typed lies below what is printed, and comes back after it", () => {
  const on = screen();
  drawn(on, "ready\n");
  assert.equal(bare(on.type("ab").shown), `${esc}7› ab`);
  assert.equal(bare(drawn(on, "tick\n")), `\r${esc}[K${esc}8tick\r\n${esc}7› ab`);
  const { shown, events } = on.type("\r");
  assert.equal(bare(shown), `\r${esc}[K${esc}8ab\r\n`);
  assert.deepEqual(events, [{ kind: "line", text: "ab" }]);
});

test("after a question without a line feed the answer is echoed behind it", () => {
  const on = screen();
  drawn(on, "Go on? [y/N] ");
  assert.equal(bare(on.type("y").shown), `${esc}D${esc}M${esc}7\r\n› y`);
  assert.equal(bare(on.type("\r").shown), `\r${esc}[K${esc}8y\r\n`);
});

test("a line longer than the terminal is shown around the cursor, on one row", () => {
  const on = screen(20);
  assert.equal(bare(on.type("0123456789".repeat(5)).shown), `${esc}7› …${"0123456789".repeat(5).slice(-17)}`);
  const moved = bare(on.type("\u001b[H").shown);
  assert.ok(moved.includes("› 0123456789") && moved.length < 60, moved);
});

test("only the end of what comes too fast is drawn", () => {
  const on = screen();
  for (let line = 0; line < 50_000; line++) {
    on.print({ gap: 0, text: `line ${String(line)}\n` });
  }
  const shown = bare(on.draw());
  assert.match(shown, /skipped: it prints too fast\]\r\nline \d+\r\n/);
  assert.ok(shown.endsWith("line 49999\r\n") && shown.length < drawnAtOnce + 200);
});

test("all that was kept is shown to whoever opens the terminal later", () => {
  const on = screen();
  on.replay([{ gap: 5, text: "x\n".repeat(drawnAtOnce) }, { gap: 0, text: "end\n" }]);
  const shown = bare(on.draw());
  assert.equal(shown, `[5 bytes not shown]\r\n${"x\r\n".repeat(drawnAtOnce)}end\r\n`);
});

test("Ctrl+C is shown as terminals show it", () => {
  const { shown, events } = screen().type("x\u0003");
  assert.equal(bare(shown), "^C\r\n");
  assert.deepEqual(events, [{ kind: "interrupt" }]);
});

test("amounts are as exact as they matter", () => {
  assert.deepEqual([1, 999, 1500, 25_000, 3_000_000].map(bytes), ["1 byte", "999 bytes", "1.5 kB", "25 kB", "3.0 MB"]);
});

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
