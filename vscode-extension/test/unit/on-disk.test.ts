import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hasRoom, mostBytes } from "../../src/on-disk";

test("a text that is larger than the disk has no room, and where nobody can say it may be tried", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pillion-room-"));
  try {
    const path = join(folder, "a.txt");
    await writeFile(path, "a");
    assert.equal(await hasRoom(path, 20), true);
    assert.equal(await hasRoom(path, Number.MAX_SAFE_INTEGER), false);
    assert.deepEqual(["äb", "ab", "日本"].map(mostBytes), [4, 4, 6]);
    assert.equal(await hasRoom(join(folder, "absent.txt"), 20), true);
  } finally {
    await rm(folder, { recursive: true });
  }
});
