import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contribution, withTools } from "../../scripts/tool-tables.mjs";
import { registerLanguageModelTools, type Request } from "../../src/models";
import { LanguageModelDataPart, LanguageModelTextPart, registered } from "../vscode";

test("the chat's model gets text as text, and an image as an image", async () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
  const calls: unknown[] = [];
  const request = ((_method: string, params: unknown) => {
    calls.push(params);
    return Promise.resolve({ content: [{ type: "image", data: png.toString("base64"), mimeType: "image/png" }, { type: "text", text: "(image/png, 4 bytes)" }, { type: "text" }] });
  }) as Request;
  const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { languageModelTools: { name: string; displayName: string }[] } };
  const disposables = registerLanguageModelTools(contributes.languageModelTools, request);
  const tool = registered.get("pillion_read_file");
  assert.ok(tool, [...registered.keys()].join());
  const { content } = await tool.invoke({ input: { path: "logo.png" } });
  assert.deepEqual(calls.splice(0), [{ name: "read_file", arguments: { path: "logo.png" }, sessionId: "chat" }]);
  await registered.get("pillion_git_diff")?.invoke({ input: {} });
  assert.deepEqual(calls, [{ name: "git.diff", arguments: {}, sessionId: "chat" }]);
  assert.deepEqual(content.slice(1), [new LanguageModelTextPart("(image/png, 4 bytes)"), new LanguageModelTextPart("")]);
  const [image] = content;
  assert.ok(image instanceof LanguageModelDataPart);
  assert.equal(image.mimeType, "image/png");
  assert.deepEqual(Buffer.from(image.data), png);
  for (const disposable of disposables) disposable.dispose();
});

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
});

test("a name that the extension could not take back is refused", () => {
  for (const name of ["web.fetch", "git_diff"]) {
    assert.throws(() => contribution({ ...tool, name }), /by another name/);
  }
});
