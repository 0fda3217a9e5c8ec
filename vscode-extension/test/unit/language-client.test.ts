// docs/clients.md says which of LSP's methods the language client that we stand on does by itself. This asks that client.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const packages = join(process.cwd(), "node_modules");

/** All JavaScript of a package, as one text. */
function source(name: string): string {
  const lib = join(packages, name, "lib");
  const files = readdirSync(lib, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
  return files.map((file) => readFileSync(join(lib, file), "utf8")).join("\n");
}

/** The names under which LSP's own library exports a method: `DidOpenTextDocumentNotification` and the like. */
function exported(method: string): string[] {
  const protocol = createRequire(join(packages, "vscode-languageclient", "package.json"))("vscode-languageserver-protocol") as Record<string, unknown>;
  return Object.entries(protocol).flatMap(([name, value]) => (value as { method?: unknown } | undefined)?.method === method ? [name] : []);
}

test("what the table of clients leaves to VS Code's language client, that does", () => {
  const page = readFileSync(join(process.cwd(), "..", "docs", "clients.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\S+)` \| LSP \|/gm)].flatMap(([, method]) => (method === undefined ? [] : [method]));
  assert.ok(rows.length > 10, "the tables are written in another way now");
  const [client, connection] = [source("vscode-languageclient"), source("vscode-jsonrpc")];
  const missing = rows.filter((method) => !exported(method).some((name) => client.includes(name)) && !connection.includes(`'${method}'`));
  assert.deepEqual(missing, []);
});
