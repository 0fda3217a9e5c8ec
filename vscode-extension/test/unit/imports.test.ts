import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";

/** The files of src and what each imports of the others, types included. */
const imports = new Map(
  readdirSync("src").map((name) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(`src/${name}`, "utf8"));
    return [name, importedFiles.filter(({ fileName }) => fileName.startsWith("./")).map(({ fileName }) => `${fileName.slice(2)}.ts`)];
  }),
);

function circle(from: string, way: readonly string[], clear: Set<string>): readonly string[] | undefined {
  if (way.includes(from)) {
    return [...way.slice(way.indexOf(from)), from];
  }
  for (const next of clear.has(from) ? [] : (imports.get(from) ?? [])) {
    const found = circle(next, [...way, from], clear);
    if (found) {
      return found;
    }
  }
  clear.add(from);
  return undefined;
}

test("no file imports itself by way of others", () => {
  const clear = new Set<string>();
  assert.ok(imports.get("extension.ts")?.length);
  for (const name of imports.keys()) {
    assert.equal(circle(name, [], clear)?.join(" → "), undefined);
  }
});
