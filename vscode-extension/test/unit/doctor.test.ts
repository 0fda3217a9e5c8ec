import assert from "node:assert/strict";
import { test } from "node:test";
import { doctorPage, readReport } from "../../src/doctor";

const report = {
  version: "1.2.3",
  verdict: "Pillion 1.2.3 works here; 2 things are worth a look",
  findings: [
    { id: "pillion.program", title: "program", status: "ok", detail: "1.2.3, ~/bin/pillion" },
    { id: "folder.root", title: "workspace", status: "info", detail: "~/kettle" },
    { id: "agent.claude", title: "Claude Code", status: "warning", detail: "can act unseen", hint: "pillion mcp install claude", data: { installed: [] } },
    { id: "agent.odd\u202e", title: "od\u200bd", status: "new", detail: "a\nb" },
  ],
  summary: { ok: 1, warnings: 1, missing: 0, errors: 0 },
};

test("the page tells the verdict, then what was found, in groups", () => {
  const page = doctorPage(report);
  assert.equal(
    page.text,
    `Pillion 1.2.3 works here; 2 things are worth a look

Pillion
  ✓ program      1.2.3, ~/bin/pillion

This folder
  · workspace    ~/kettle

Agents
  ! Claude Code  can act unseen
                 → pillion mcp install claude
  ? od\\u{200b}d  a\\nb

It contains no tokens; you can paste it into an issue. Run Pillion: Doctor to check again.
`,
  );
  const lines = page.text.split("\n");
  const painted = (paint: string): string[] => page.marks.filter((mark) => mark.paint === paint).map((mark) => (lines[mark.line] ?? "").slice(mark.from, mark.to).trim());
  assert.deepEqual(painted("heading"), [report.verdict]);
  assert.deepEqual(painted("label"), ["Pillion", "This folder", "Agents"]);
  assert.deepEqual(painted("warning"), ["! Claude Code  can act unseen"]);
  assert.deepEqual(painted("muted").slice(0, 2), ["· workspace    ~/kettle", "→ pillion mcp install claude"]);
});

test("a long detail goes on below its beginning", () => {
  const words = "word ".repeat(30).trim();
  const [, , , first = "", second = "", third = ""] = doctorPage({ ...report, findings: [{ id: "a.b", title: "long", status: "ok", detail: words, hint: words }] }).text.split("\n");
  assert.equal(first, `  ✓ long  ${"word ".repeat(16).trim()}`);
  assert.equal(second, `          ${"word ".repeat(14).trim()}`);
  assert.equal(third, `          → ${"word ".repeat(16).trim()}`);
});

test("only a report is taken for one", () => {
  assert.deepEqual(readReport(JSON.stringify(report)), report);
  for (const printed of ["", "unknown command", "null", "[]", "{}", '{"verdict": "x", "findings": [1]}', '{"verdict": "x", "findings": [{"id": "a.b"}]}', JSON.stringify({ ...report, verdict: 7 })]) {
    assert.equal(readReport(printed), undefined, printed);
  }
});
