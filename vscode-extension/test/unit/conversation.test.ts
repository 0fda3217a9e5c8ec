// What is shown of a conversation, and what of an agent's words cannot become active there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextLabel, Conversations, entryHtml, frame, heading } from "../../src/conversation";
import type { ConversationEntry, ConversationView } from "../../src/conversation-protocol";

const entry = (entryId: string, kind: ConversationEntry["kind"], text: string): ConversationEntry => ({ entryId, kind, text, done: true, at: "" });

test("an agent's words are Markdown without HTML, images or active links", () => {
  const hostile = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![](https://example.org/spy.png)",
    "[a](javascript:alert(1)) [b](command:workbench.action.quit) [c](data:text/html,x) [d](vscode://file/etc/passwd) [e](file:///etc/passwd)",
    "<https://example.org/?x=\"><svg onload=alert(1)>>",
    "[ref]: javascript:alert(1)\n\n[ref]",
    "`</code><iframe src=//example.org>`",
  ].join("\n\n");
  const html = entryHtml(entry("1", "agent", hostile), "<b>");
  assert.doesNotMatch(html, /<(script|img|iframe|svg|form|input|b)\b/i);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, url]) => url);
  assert.ok(links.every((url) => /^https?:/.test(url ?? "")), links.join(" "));
  assert.match(entryHtml(entry("1", "agent", "**bold** [link](https://example.org)"), "a"), /<strong>bold<\/strong> <a href="https:\/\/example\.org">link<\/a>/);
});

test("everything else is text", () => {
  for (const kind of ["user", "error", "notice"] as const) {
    assert.match(entryHtml(entry("1", kind, "<img src=x onerror=1>&\"'"), "a"), /&#60;img src=x onerror=1&#62;&#38;&#34;&#39;/);
  }
  const row = entryHtml({ ...entry("1", "call", ""), call: { callId: "1", tool: "glob", title: "<i>\u202e", state: "done", summary: "a\nb" } }, "a");
  assert.match(row, /✓<\/span> &#60;i&#62;\\u\{202e\}/);
});

test("the page loads its own two files and nothing else", () => {
  const html = frame("https://own/s.js", "https://own/s.css", "https://own");
  assert.match(html, /default-src 'none'; script-src https:\/\/own; style-src https:\/\/own"/);
  assert.deepEqual([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url), ["https://own/s.css", "https://own/s.js"]);
});

test("what is heard becomes one conversation, the newest", () => {
  const store = new Conversations();
  const heard: string[] = [];
  const shown = (): ConversationView | undefined => store.current;
  store.listen({
    entries: (changed, removed) => heard.push(`${changed.map(({ text }) => text).join()}-${removed.join()}`),
    state: () => heard.push("state"),
  });
  store.change({ conversationId: "0", status: "thinking" });
  assert.equal(shown(), undefined);
  store.change({ conversationId: "1", title: "t", agent: { name: "a", via: "gateway" }, status: "idle", message: "", connection: "connecting", context: [] });
  store.change({ conversationId: "1", entries: [entry("e", "user", "hi"), entry("f", "agent", "")] });
  store.append({ conversationId: "1", entryId: "f", text: "he" });
  store.append({ conversationId: "1", entryId: "f", text: "llo" });
  store.append({ conversationId: "1", entryId: "gone", text: "x" });
  store.change({ conversationId: "1", removed: ["e"] });
  store.change({ conversationId: "1", connection: "connected" });
  assert.deepEqual(heard, ["state", "hi,-", "he-", "hello-", "-e", "state"]);
  assert.deepEqual(shown()?.entries.map(({ text }) => text), ["hello"]);
  heard.length = 0;
  store.change({ conversationId: "1", status: "idle", entries: [entry("g", "error", "broken")] });
  assert.deepEqual(heard, ["broken-", "state"]);
  store.change({ conversationId: "1", closed: true });
  assert.equal(shown(), undefined);
});

test("the heading says how it stands", () => {
  const one = { agent: { name: "127.0.0.1", via: "gateway" }, connection: "connected", status: "thinking", message: "hm" } as ConversationView;
  assert.deepEqual(heading(undefined, undefined), { text: "No agent is connected.", connected: false });
  assert.deepEqual(heading(one, undefined), { text: "127.0.0.1 · connected · thinking: hm", connected: true });
  const lost = { state: "reconnecting", url: "", sessionId: "", conversationId: "", retryInMs: 2000, error: { code: "X", message: "it broke" } } as const;
  assert.deepEqual(heading({ ...one, connection: "reconnecting" }, lost), { text: "127.0.0.1 · reconnecting · it broke · trying again in 2.0 s", connected: false });
  assert.equal(contextLabel({ path: "a\u202e.py", content: true, lines: 2, by: "agent" }), "a\\u{202e}.py (2 lines), by the agent");
});

test("a token is kept once it was taken, and forgotten when it is refused, whatever other connections do", () => {
  const store = new Conversations();
  const heard: string[] = [];
  const of = (sessionId: string) => ({ url: "", sessionId, conversationId: "" });
  const lost = { state: "reconnecting", error: { code: "EXECUTION_FAILED", message: "not there" } } as const;
  const refused = { state: "disconnected", error: { code: "PERMISSION_DENIED", message: "no" } } as const;
  store.connected({ ...of("a"), state: "connected" }); // before it is waited for
  store.whenSettled("a", ({ state }) => heard.push(`a ${state}`));
  store.whenSettled("b", ({ state }) => heard.push(`b ${state}`));
  store.connected({ ...of("a"), ...refused });
  store.connected({ ...of("b"), ...lost });
  store.connected({ ...of("b"), ...refused });
  store.connected({ ...of("b"), state: "connected" });
  assert.deepEqual(heard, ["a connected", "b disconnected"]);
});
