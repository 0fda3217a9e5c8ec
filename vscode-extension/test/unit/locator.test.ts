import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { locate } from "../../src/locator";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "pillion-locator-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

async function program(path: string): Promise<string> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "");
  await chmod(path, 0o755);
  return path;
}

const nowhere = { setting: "", extension: "/nonexistent", path: "", platform: "linux" } as const;

test("the setting beats the bundled program, which beats PATH", async (t) => {
  const home = await folder(t);
  const set = await program(join(home, "set", "my-pillion"));
  const bundled = await program(join(home, "extension", "bin", "pillion"));
  const onPath = await program(join(home, "path", "pillion"));
  const path = join(home, "path");
  const extension = join(home, "extension");
  assert.deepEqual(await locate({ ...nowhere, setting: set, extension, path }), { path: set, from: "setting" });
  assert.deepEqual(await locate({ ...nowhere, extension, path }), { path: bundled, from: "bundle" });
  assert.deepEqual(await locate({ ...nowhere, path }), { path: onPath, from: "PATH" });
});

test("what an agent's configuration names outlives an update of the extension, if anything does", async (t) => {
  const home = await folder(t);
  const bundled = await program(join(home, "extension", "bin", "pillion"));
  const extension = join(home, "extension");
  assert.deepEqual(await locate({ ...nowhere, extension, path: "/nonexistent" }, true), { path: bundled, from: "bundle" });
  const onPath = await program(join(home, "path", "pillion"));
  assert.deepEqual(await locate({ ...nowhere, extension, path: join(home, "path") }, true), { path: onPath, from: "PATH" });
});

test("a setting that names nothing is a problem, not a reason to look elsewhere", async (t) => {
  const home = await folder(t);
  await program(join(home, "pillion"));
  const located = await locate({ ...nowhere, setting: "/nonexistent/pillion", path: home });
  assert.ok("problem" in located);
  assert.match(located.problem, /pillion\.path names \/nonexistent\/pillion/);
});

test("a program that may not be run, a folder and a relative place in PATH do not count", async (t) => {
  const home = await folder(t);
  await writeFile(join(home, "pillion"), "");
  await mkdir(join(home, "b", "pillion"), { recursive: true });
  const located = await locate({ ...nowhere, path: [home, join(home, "b"), "."].join(":") });
  assert.ok("problem" in located);
  assert.match(located.problem, /install it, or name it in the setting pillion\.path/);
});
