import assert from "node:assert/strict";
import { test } from "node:test";
import { pasted, short, visible, withoutLinks } from "../../src/escape";
import { encodingOf } from "../../src/on-disk";

test("what cannot be seen is written out, what can be seen is not", () => {
  assert.equal(visible("a\u200bb\u2066c\u00a0d\u3000\u00ade\ufeff\u{e0041}\ufe0f\n"), "a\\u{200b}b\\u{2066}c\\u{a0}d\\u{3000}\\u{ad}e\\u{feff}\\u{e0041}\\u{fe0f}\\n");
  assert.equal(visible("größer → 日本語 🙂 #1*"), "größer → 日本語 🙂 #1*");
});

test("what VS Code would make a link of is none", () => {
  assert.equal(withoutLinks("see [it](command:x) [[a]](https://b) a[0](1)"), "see [it] (command:x) [[a]] (https://b) a[0] (1)");
});

test("a long text keeps both its ends, and characters stay whole", () => {
  assert.equal(short("abcdefghij", 10), "abcdefghij");
  assert.equal(short("abcdefghijk", 7), "abcde…k");
  assert.equal(short("🙂🙂🙂🙂", 3), "🙂🙂…");
});

test("encodings go by the names that the rest of the world uses", () => {
  assert.deepEqual(encodingOf("utf8"), { encoding: "utf-8", bom: false });
  assert.deepEqual(encodingOf("utf8bom"), { encoding: "utf-8", bom: true });
  assert.deepEqual(encodingOf("utf16le"), { encoding: "utf-16le", bom: true });
  assert.deepEqual(["windows1252", "iso88591", "iso885915", "shiftjis", "gb18030"].map((id) => encodingOf(id).encoding), [
    "windows-1252",
    "iso-8859-1",
    "iso-8859-15",
    "shift_jis",
    "gb18030",
  ]);
});

test("what is pasted into a terminal ends its paste nowhere", () => {
  assert.equal(pasted("if a:\r\n\tb\u001b[201~\rrm x\n"), "\u001b[200~if a:\n\tb\\e[201~\\rrm x\n\u001b[201~");
});
