import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contribution, source, withTools } from "../../scripts/tool-tables.mjs";
import { tools } from "../../src/tools.generated";

const tool = { name: "git.diff", title: "Show changes", description: "Shows changes. In git's format.", access: "read", inputSchema: { type: "object" } };

test("a tool becomes what VS Code wants, without dots and without a confirmation of its own", () => {
  const contributed = contribution(tool);
  assert.equal(contributed.name, "pillion_git_diff");
  assert.equal(contributed.userDescription, "Shows changes.");
  assert.equal(contributed.modelDescription, tool.description);
  assert.equal("confirmationMessages" in contributed, false);
});

test("only the tools of package.json are replaced, and doing it again changes nothing", () => {
  const before = '{\n  "contributes": {\n    "languageModelTools": [{ "name": "]" }],\n    "views": {}\n  }\n}\n';
  const once = withTools(before, [tool]);
  const { contributes } = JSON.parse(once) as { contributes: { languageModelTools: unknown } };
  assert.deepEqual(contributes.languageModelTools, [contribution(tool)]);
  assert.ok(once.endsWith(',\n    "views": {}\n  }\n}\n'));
  assert.equal(withTools(once, [tool]), once);
  assert.match(source([tool]), /name: "git\.diff", registered: "pillion_git_diff"/);
});

test("package.json and the generated table name the same tools", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { languageModelTools: { name: string }[] } };
  assert.deepEqual(
    manifest.contributes.languageModelTools.map(({ name }) => name),
    tools.map(({ registered }) => registered),
  );
  assert.ok(tools.length > 0);
});
