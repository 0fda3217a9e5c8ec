import assert from "node:assert/strict";
import { test } from "node:test";
import { keptEnded, keptText, Processes } from "../../src/processes";
import type { ProcessInfo, ProcessOutput } from "../../src/protocol";

const web: ProcessInfo = {
  sessionId: "s1", processId: "web", agent: { name: "claude", via: "mcp" }, pid: 7, command: "npm run dev", cwd: ".", running: true, started: "2026-11-21T17:00:00Z",
};
const first: ProcessOutput = { sessionId: "s1", processId: "web", text: "", start: 0, next: 0, running: true };

interface Table {
  processes: Processes;
  heard: string[];
  asked: () => number;
}

function table(): Table {
  const heard: string[] = [];
  let asked = 0;
  const processes = new Processes(() => {
    asked += 1;
  });
  processes.listen({
    started: ({ info }) => heard.push(`started ${info.processId} ${String(info.pid)}`),
    printed: (_, { gap, text }) => heard.push(`printed ${gap > 0 ? `(${String(gap)}) ` : ""}${text}`),
    ended: ({ info }) => heard.push(`ended ${info.processId} ${String(info.exitCode)}`),
    forgotten: ({ info }) => heard.push(`forgotten ${info.processId}`),
  });
  return { processes, heard, asked: () => asked };
}

test("who meets an unknown process asks, and shows what came meanwhile", () => {
  const { processes, heard, asked } = table();
  processes.hear(first);
  processes.hear({ ...first, text: "up\n", start: 0, next: 3 });
  assert.deepEqual([asked() > 0, heard], [true, []]);
  processes.know([web]);
  processes.hear({ ...first, text: "hit\n", start: 3, next: 7 });
  assert.deepEqual(heard, ["started web 7", "printed up\n", "printed hit\n"]);
});

test("one that ended before anybody could ask is shown with its end", () => {
  const { processes, heard } = table();
  processes.hear({ ...first, text: "oops\n", start: 0, next: 5 });
  processes.hear({ ...first, start: 5, next: 5, running: false, exitCode: 3 });
  processes.know([{ ...web, running: false, exitCode: 3 }]);
  assert.deepEqual(heard, ["started web 7", "printed oops\n", "ended web 3"]);
  assert.deepEqual(processes.running, []);
});

test("what was not sent is counted, what was sent twice is shown once", () => {
  const { processes, heard } = table();
  processes.know([web]);
  processes.hear({ ...first, text: "ab", start: 0, next: 2 });
  processes.hear({ ...first, text: "ef", start: 4, next: 6 });
  processes.hear({ ...first, text: "efgh", start: 4, next: 8 });
  processes.hear({ ...first, text: "gh", start: 6, next: 8 });
  assert.deepEqual(heard.slice(1), ["printed ab", "printed (2) ef", "printed gh"]);
  assert.deepEqual(processes.all[0]?.printed, [{ gap: 0, text: "ab" }, { gap: 2, text: "efgh" }]);
});

test("the end of what it printed is kept, and how much is not", () => {
  const { processes } = table();
  processes.know([web]);
  const line = `${"é".repeat(499)}\n`;
  let at = 0;
  for (let round = 0; round < 1000; round++) {
    const next = at + Buffer.byteLength(line);
    processes.hear({ ...first, text: line, start: at, next });
    at = next;
  }
  const printed = processes.all[0]?.printed ?? [];
  const kept = printed.map(({ text }) => text).join("");
  assert.equal(kept.length, keptText);
  assert.equal(printed.reduce((sum, { gap, text }) => sum + gap + Buffer.byteLength(text), 0), at);
});

test("names are a session's own, and one that is used again is another process", () => {
  const { processes, heard } = table();
  processes.know([web, { ...web, sessionId: "s2", pid: 8 }]);
  processes.hear({ ...first, running: false, exitCode: 0 });
  assert.deepEqual(processes.running.map(({ info }) => info.sessionId), ["s2"]);
  processes.hear(first);
  processes.know([{ ...web, sessionId: "s2", pid: 8 }, { ...web, pid: 9 }]);
  assert.deepEqual(heard, ["started web 7", "started web 8", "ended web 0", "forgotten web", "started web 9"]);
});

test("those that ended stay for a while, after those that run", () => {
  const { processes, heard } = table();
  for (let number = 0; number < keptEnded + 2; number++) {
    const processId = `p${String(number)}`;
    processes.know([...processes.running.map(({ info }) => info), { ...web, processId, pid: number }]);
    processes.hear({ ...first, processId, running: false, exitCode: 0 });
  }
  processes.know([web]);
  assert.deepEqual(heard.filter((line) => line.startsWith("forgotten")), ["forgotten p0", "forgotten p1"]);
  assert.deepEqual(processes.all.slice(0, 2).map(({ info }) => info.processId), ["web", `p${String(keptEnded + 1)}`]);
});

test("when the sidecar is gone everything has ended, and nobody knows how", () => {
  const { processes, heard } = table();
  processes.know([web]);
  processes.end();
  assert.deepEqual(heard, ["started web 7", "ended web undefined"]);
});
