import assert from "node:assert/strict";
import { test } from "node:test";
import { indexNote, indexText } from "../../src/index-words";

test("an index that is built is told with its percentage, one that is there with its size", () => {
  const building = { building: true, percent: 40, files: 7, bytes: 100 };
  assert.deepEqual([indexText(building), indexNote(building)], [" (indexing 40 %)", "The search index of this project is being built; searches are slower until then"]);
  const built = { building: false, percent: 100, files: 86240, bytes: 89 * 2 ** 20 - 1 };
  assert.deepEqual([indexText(built), indexNote(built)], ["", "Search index: 86,240 files, 89 MB of memory"]);
  for (const none of [undefined, { building: false, percent: 0, files: 0, bytes: 0 }]) {
    assert.deepEqual([indexText(none), indexNote(none)], ["", ""]);
  }
});
