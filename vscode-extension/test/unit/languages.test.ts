import assert from "node:assert/strict";
import { test } from "node:test";
import type { Range } from "vscode";
import { Answers, type Converter } from "../../src/languages";

/** As the language client's own converter does, which needs VS Code. */
const converter = {
  asUri: (uri: string) => uri,
  asRange: (range: Range) => ({
    start: { line: range.start.line, character: range.start.character },
    end: { line: range.end.line, character: range.end.character },
  }),
  asSymbolKind: (kind: number) => kind + 1,
} as unknown as Converter;

/** Made with what of VS Code's own objects is looked at. */
const answers = new Answers(converter) as unknown as {
  places(found: unknown[], without?: unknown[]): object[];
  hover(found: unknown[]): object | null;
  symbols(found: unknown[]): object[];
};

/** VS Code's ranges become lists of two positions when they are sent as they are. */
function range(line: number, from: number, to: number, endLine = line): object {
  const [start, end] = [{ line, character: from }, { line: endLine, character: to }];
  return { start, end, toJSON: () => [start, end] };
}

function sent(line: number, from: number, to: number, endLine = line): object {
  return { start: { line, character: from }, end: { line: endLine, character: to } };
}

const uri = "file:///project/app.ts";
const other = "file:///project/tea.ts";

test("a definition comes as a place or as a link, and each place is said once", () => {
  const link = { targetUri: other, targetRange: range(2, 0, 1, 9), targetSelectionRange: range(2, 9, 13) };
  const whole = { targetUri: other, targetRange: range(5, 0, 1) };
  const place = { uri, range: range(1, 6, 7) };
  assert.deepEqual(JSON.parse(JSON.stringify(answers.places([place, link, place, whole]))), [
    { uri: "file:///project/app.ts", range: sent(1, 6, 7) },
    { uri: "file:///project/tea.ts", range: sent(2, 9, 13) },
    { uri: "file:///project/tea.ts", range: sent(5, 0, 1) },
  ]);
});

test("references without the declaration, be that its name or all of it", () => {
  const found = [{ uri, range: range(1, 6, 9) }, { uri, range: range(4, 0, 3) }, { uri: other, range: range(1, 6, 9) }];
  const left = [{ uri: "file:///project/app.ts", range: sent(4, 0, 3) }, { uri: "file:///project/tea.ts", range: sent(1, 6, 9) }];
  for (const declaration of [range(1, 6, 9), range(1, 0, 1, 3)]) {
    assert.deepEqual(answers.places(found, [{ uri, range: declaration }]), left);
  }
  assert.equal(answers.places(found).length, 3);
});

test("what several extensions say about a place is one text", () => {
  const says = (...texts: string[]): object => ({ contents: texts.map((value) => ({ value })), range: range(1, 0, 4) });
  assert.deepEqual(answers.hover([says("```ts\nconst tea: Tea\n```", "Hot."), says("Hot."), says("Leaves.")]), {
    contents: { kind: "markdown", value: "```ts\nconst tea: Tea\n```\n\nHot.\n\nLeaves." },
    range: sent(1, 0, 4),
  });
  assert.equal(answers.hover([]), null);
  assert.equal(answers.hover([says("", " \n")]), null, "an empty hover says nothing");
});

test("symbols of a file keep what is inside them, those of a project their place", () => {
  const method = { name: "pour", detail: "", kind: 5, range: range(2, 2, 3, 4), selectionRange: range(2, 2, 6), children: [] };
  // VS Code's own objects are both kinds at once.
  const kettle = { name: "Kettle", detail: "class", kind: 4, range: range(1, 0, 1, 5), selectionRange: range(1, 6, 12), children: [method], containerName: "", location: { uri, range: range(1, 0, 1, 5) } };
  const found = { name: "Tea", kind: 10, containerName: "tea", location: { uri: other, range: range(0, 0, 3) } };
  assert.deepEqual(JSON.parse(JSON.stringify(answers.symbols([kettle, found]))), [
    {
      name: "Kettle", detail: "class", kind: 5, range: sent(1, 0, 1, 5), selectionRange: sent(1, 6, 12),
      children: [{ name: "pour", detail: "", kind: 6, range: sent(2, 2, 3, 4), selectionRange: sent(2, 2, 6), children: [] }],
    },
    { name: "Tea", kind: 11, containerName: "tea", location: { uri: "file:///project/tea.ts", range: sent(0, 0, 3) } },
  ]);
});
