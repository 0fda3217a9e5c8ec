import assert from "node:assert/strict";
import { test } from "node:test";
import { registerLanguageModelTools, type Request } from "../../src/language-model-tools";
import { LanguageModelDataPart, LanguageModelTextPart, registered } from "../vscode";

test("the chat's model gets text as text, and an image as an image", async () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
  const calls: unknown[] = [];
  const request = ((_method: string, params: unknown) => {
    calls.push(params);
    return Promise.resolve({ content: [{ type: "image", data: png.toString("base64"), mimeType: "image/png" }, { type: "text", text: "(image/png, 4 bytes)" }, { type: "text" }] });
  }) as Request;
  const disposables = registerLanguageModelTools(request);
  const tool = registered.get("pillion_read_file");
  assert.ok(tool, [...registered.keys()].join());
  const { content } = await tool.invoke({ input: { path: "logo.png" } });
  assert.deepEqual(calls, [{ name: "read_file", arguments: { path: "logo.png" }, sessionId: "chat" }]);
  assert.deepEqual(content.slice(1), [new LanguageModelTextPart("(image/png, 4 bytes)"), new LanguageModelTextPart("")]);
  const [image] = content;
  assert.ok(image instanceof LanguageModelDataPart);
  assert.equal(image.mimeType, "image/png");
  assert.deepEqual(Buffer.from(image.data), png);
  for (const disposable of disposables) disposable.dispose();
});
