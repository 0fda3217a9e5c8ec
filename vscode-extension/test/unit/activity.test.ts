import assert from "node:assert/strict";
import { test } from "node:test";
import { Activity, activityLimit, duration, opens, outcomeOf } from "../../src/activity";
import type { ActivityChanged } from "../../src/activity-protocol";

function entry(callId: string, state: ActivityChanged["state"]): ActivityChanged {
  const agent = { name: "claude", via: "mcp" };
  return { callId, sessionId: "s1", agent, tool: "read_file", title: "Read a", state, summary: "", started: "", durationMs: 0 };
}

test("a call keeps its place while its state changes; the newest is first", () => {
  const activity = new Activity();
  activity.record(entry("one", "running"));
  activity.record(entry("two", "queued"));
  activity.record(entry("one", "done"));
  assert.deepEqual(activity.entries.map((known) => `${known.callId} ${known.state}`), ["two queued", "one done"]);
  assert.equal(activity.running, 0);
});

test("the oldest calls are forgotten beyond the limit", () => {
  const activity = new Activity();
  for (let call = 0; call <= activityLimit; call++) {
    activity.record(entry(String(call), "done"));
  }
  assert.equal(activity.entries.length, activityLimit);
  assert.equal(activity.entries.at(-1)?.callId, "1");
});

test("when the sidecar ends, what ran has failed", () => {
  const activity = new Activity();
  activity.record(entry("one", "running"));
  activity.record(entry("two", "done"));
  activity.end();
  assert.deepEqual(activity.entries.map((known) => known.state), ["done", "failed"]);
});

test("durations are as exact as they matter", () => {
  assert.deepEqual([3, 420, 9949, 12_300, 600_000].map(duration), ["", "0.4 s", "9.9 s", "12 s", "10 min"]);
});

test("what came of a call does not say its name again", () => {
  const rows: [string, string][] = [
    ["Edit greet.py", "greet.py +1 −1"],
    ["Read count.sh", "count.sh, 1 line"],
    ["Edit file: words.txt", "words.txt: old_string was not found"],
    ["Edit a.py", "a.pyx is a folder"],
    ["Run make", "make"],
    ["Delete notes.md", "deleted notes.md"],
    ["Run make", "Run make"],
  ];
  assert.deepEqual(rows.map(([title, summary]) => outcomeOf({ title, summary })), ["+1 −1", "1 line", "old_string was not found", "a.pyx is a folder", "make", "deleted notes.md", ""]);
});

test("a click opens the request, then what the call came to, else its file", () => {
  const words = (more: Partial<ActivityChanged>): string | undefined => opens({ ...entry("one", "done"), ...more });
  assert.deepEqual([words({ state: "waiting", path: "a.py" }), words({ shows: "diff", path: "a.py" }), words({ shows: "command" }), words({ path: "a.py" }), words({})], [
    "Click to see the request",
    "Click for the diff",
    "Click for its output",
    "Click to open the file",
    undefined,
  ]);
});
