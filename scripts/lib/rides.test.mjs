// The list of rides against the files: each ride has what it stands on, each folder of the code its rides, and CONTRIBUTING.md shows it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fuzzTargets } from './fuzz.mjs';
import { belongs, matching, rides, rowOf, table, touchedBy } from './rides.mjs';

process.chdir(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..'));
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0').filter((file) => fs.existsSync(file));
const all = rides();
const names = (list) => list.map(({ name }) => name);

test('what a ride stands on is there', () => {
  for (const { name, needs } of all) {
    for (const need of needs) {
      const [script, ...words] = need.split(' ');
      const isBuilt = ['program', 'vsix', 'release'].includes(need);
      assert.ok(isBuilt || fs.existsSync(`scripts/setup/${script}.sh`), `${name} needs ${need}`);
      const groups = script === 'apt' ? words : [];
      for (const group of groups) assert.match(fs.readFileSync('scripts/versions.env', 'utf8'), new RegExp(`^APT_${group}=`, 'm'), `${name} needs ${need}`);
    }
  }
});

test('each folder of the table is there, and each of its patterns names a ride', () => {
  for (const [folder, patterns] of Object.entries(belongs)) {
    assert.ok(files.some((file) => file.startsWith(`${folder}/`)), `no file is in ${folder}`);
    for (const pattern of patterns) assert.ok(matching(all, [pattern]).length > 0, `${folder}: no ride is called ${pattern}`);
  }
});

test('each package of Go and each plugin has a row of its own or of a folder around it', () => {
  const without = new Set(files.filter((file) => /\.(go|ts|lua)$/.test(file) && file.includes('/') && !rowOf(file)).map(path.dirname));
  assert.deepEqual([...without], []);
});

test('each ride belongs to some code', () => {
  const belonging = new Set(names(matching(all, Object.entries(belongs).filter(([folder]) => !['e2e/rig', 'sidecar'].includes(folder)).flatMap(([, patterns]) => patterns))));
  assert.deepEqual(names(all).filter((name) => !belonging.has(name) && name !== 'go/vulnerabilities'), []);
});

test('each fuzz target is in the code', () => {
  for (const { pkg, name } of fuzzTargets) {
    const found = files.some((file) => `./${path.dirname(file)}` === pkg && file.endsWith('_test.go') && fs.readFileSync(file, 'utf8').includes(`func ${name}(`));
    assert.ok(found, `${pkg} has no ${name}`);
  }
});

test('a change has the rides of its folder', () => {
  const touched = (...changed) => names(touchedBy(all, changed));
  assert.deepEqual(touched('page/server.go'), ['terminal/watch-page']);
  assert.deepEqual(touched('README.md', 'docs/watch.md'), []);
  assert.deepEqual(touched('e2e/vscode/git.test.js'), ['vscode/git']);
  assert.deepEqual(touched('workspace/diff/lines_test.go'), ['fuzz/FuzzSelect']);
  assert.deepEqual(touched('go.mod'), names(all));
  assert.ok(touched('e2e/plain/helix.js').includes('plain/helix'));
  assert.ok(touched('workspace/git/odb/pack.go').every((name) => /\/(git|tree|changes)$/.test(name)));
});

test('CONTRIBUTING.md shows the table', () => {
  assert.ok(fs.readFileSync('CONTRIBUTING.md', 'utf8').includes(table()), 'run make generate');
});
