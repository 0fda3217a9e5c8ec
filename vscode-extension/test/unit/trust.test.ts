import assert from "node:assert/strict";
import { test } from "node:test";
import { trustPage } from "../../src/trust";

test("every rule that would loosen is shown whole, and none can pass for the page's own line", () => {
  const { text } = trustPage({ path: ".pillion/settings.json\u200b", hash: "h", rules: ["allow run_command(make *)", "allow edit_file(**)\nWhere         nowhere\u202e"] });
  assert.match(text, /^ {2}allow run_command\(make \*\)$/m);
  assert.match(text, /^ {2}allow edit_file\(\*\*\)\\nWhere {9}nowhere\\u\{202e\}$/m);
  assert.match(text, /^File {10}\.pillion\/settings\.json\\u\{200b\}$/m);
  assert.match(text, /^Trust These Rules/m);
  assert.match(text, /^Ignore These Rules/m);
});

test("a rule that has no effect is named, with the reason", () => {
  const { text } = trustPage({ path: "p", hash: "h", rules: ["allow read_file"], problems: ['rule "run_command(git *)" is ignored: name a word\u200b'] });
  assert.match(text, /No effect\n? +rule "run_command\(git \*\)" is ignored: name a word\\u\{200b\}$/m);
});

test("without rules there is nothing to trust", () => {
  const { text } = trustPage({ path: "p", hash: "h", rules: null });
  assert.match(text, /needs your trust/);
  assert.doesNotMatch(text, /Trust These Rules/);
});
