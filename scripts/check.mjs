// check.mjs [GROUP…]: what `make test` and CI run: all that only a fault of ours can make fail. Groups: lint, go, extension, lua, walk; all of them by default.
// What compiles and runs Go is on one track; packages, plugins, set-ups and the rides in real places are on the other, beside it: those wait a lot. The first to end goes on with staticcheck.
// Every step runs even when an earlier one failed; the exit code is 1 when anything failed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Needs } from './lib/needs.mjs';
import { matching, rides } from './lib/rides.mjs';
import { goTest, nodeTest, runRides } from './lib/runners.mjs';
import { Steps, command } from './lib/steps.mjs';

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

// As the program is built: what is compiled once is then compiled for vet, for tests, for the program, and for a clone elsewhere.
Object.assign(process.env, { CGO_ENABLED: '0', GOFLAGS: '-trimpath' });

const extension = 'vscode-extension';
const plugin = 'nvim-plugin';
const groups = ['lint', 'go', 'extension', 'lua', 'walk'];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !groups.includes(name));
if (unknown.length > 0) {
  console.error(`check: no group ${unknown.join(', ')}; there are ${groups.join(', ')}`);
  process.exit(2);
}
const wants = (...names) => wanted.length === 0 || names.some((name) => wanted.includes(name));

/** Where goroutines meet. Elsewhere (parsers, schemas, programs that are started by the thousand) there is little to race, and it takes thrice as long; `RACE=all` has it for all. */
const raced = [
  'agents/acp', 'agents/gateway', 'agents/mcp', 'agents/relay', 'audit', 'config', 'conversation', 'internal/pipe', 'internal/wire', 'lspbridge', 'page', 'rpc', 'sidecar', 'terminal',
  'tools/approval', 'tools/session', 'tools/session/kept', 'tools/unusual', 'workspace/change', 'workspace/document', 'workspace/journal', 'workspace/search', 'workspace/tracking', 'workspace/watch',
].map((name) => `pillion/${name}`);

const steps = new Steps();
const needs = new Needs(steps);
let linted;
if (wants('go')) await needs.get('apt GO'); // both tracks wait for dpkg's lock otherwise
await Promise.all([goTrack(), otherTrack()]);
if (wants('lint')) await steps.run('generated files are fresh', freshness); // alone: it compares the whole tree
process.exitCode = steps.close();

async function goTrack() {
  if (wants('lint')) await steps.run('go vet', () => command('go', ['vet', '-tags', 'rides', './...']));
  if (wants('go')) await testGo();
  if (wants('lint')) await lintGo();
}

async function otherTrack() {
  if (wants('lint', 'extension')) await needs.get('extension packages');
  if (wants('lint')) {
    await steps.run('extension: types', () => command('npm', ['run', '--silent', 'check'], { cwd: extension }));
    await steps.run('extension: eslint', () => command('npm', ['run', '--silent', 'lint'], { cwd: extension }));
    await needs.get('rig packages');
    await steps.run('end-to-end tests: types', () => command('npm', ['run', '--silent', 'check'], { cwd: 'e2e' }));
    await steps.run('scripts: unit tests', (tally) => nodeTest('node', ['--test', '--test-reporter=spec', 'scripts/lib/'], tally));
  }
  if (wants('extension')) await steps.run('extension: unit tests', (tally) => nodeTest('npm', ['test', '--silent'], tally, { cwd: extension }));
  if (wants('lua')) await lua();
  if (wants('walk')) await walk();
  if (wants('lint')) await lintGo();
}

/** By whichever track comes here first; the other waits for it. */
function lintGo() {
  return linted ??= lintGoOnce();
}

async function lintGoOnce() {
  const tools = await needs.get('go-tools');
  if (!tools) return;
  await steps.run('gofumpt', async () => {
    const unformatted = await command(path.join(tools, 'gofumpt'), ['-l', ...projectFiles('.go')], { quiet: true });
    if (unformatted.length > 0) throw new Error(`not formatted, run gofumpt -w: ${unformatted.join(' ')}`);
  });
  await steps.run('staticcheck', () => command(path.join(tools, 'staticcheck'), ['-tags', 'rides', './...']));
}

async function testGo() {
  await needs.get('language-servers');
  await needs.get('program');
  const all = await command('go', ['list', './...'], { quiet: true });
  const withRace = process.env.RACE === 'all' ? all : raced;
  const flags = ['-vet=off', '-p', '3', '-timeout', '10m']; // go vet has run; tests wait more than they work
  // The race detector wants cgo. A program with it sleeps a second before it exits, and the tests start hundreds.
  await steps.run('go test -race', (tally) => goTest(['-race', ...flags], withRace, tally, { env: { CGO_ENABLED: '1', GORACE: 'atexit_sleep_ms=50' } }));
  const rest = all.filter((name) => !withRace.includes(name));
  if (rest.length > 0) await steps.run('go test', (tally) => goTest(flags, rest, tally));
}

/** The Neovim plugin's Lua: format, lint, and its unit tests in the real Neovim. */
async function lua() {
  const files = projectFiles('.lua').filter((file) => file.startsWith(`${plugin}/`));
  const stylua = await needs.get('stylua');
  if (stylua) {
    const format = ['scripts/lua-format.mjs', '--tool', stylua];
    await steps.run('neovim: format', () => command('node', [...format, ...files]).catch(() => { throw new Error(`not formatted, run node ${format.join(' ')} --write with them`); }));
  }
  await needs.get('apt LUA');
  await steps.run('neovim: luacheck', () => command('luacheck', ['--no-color', '--quiet', '.'], { cwd: plugin }));
  const neovim = await needs.get('neovim');
  if (!neovim) return;
  await needs.get('program'); // some start it
  const run = ['--headless', '-u', 'NONE', '-i', 'NONE', '-n', '-l', path.join(plugin, 'test/run.lua')];
  await steps.run('neovim: unit tests', (tally) => nodeTest(path.join(neovim, 'bin/nvim'), run, tally));
}

/** One ride in each real place: the way that every user walks. */
async function walk() {
  const walks = matching(rides(), ['walk']);
  await needs.all([...new Set(['rig packages', ...walks.flatMap((ride) => ride.needs)])]);
  await steps.run('one ride in each real place', (tally) => runRides(walks, tally));
}

/** Files of the project, tracked or about to be: what git would show, without what it ignores. */
function projectFiles(ending = '') {
  return execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\0').filter((file) => file !== '' && file.endsWith(ending) && fs.existsSync(file));
}

/** Generates everything and compares: what changed was stale, and is now fresh on disk. */
async function freshness() {
  const digests = () => new Map(projectFiles().map((file) => [file, createHash('sha256').update(fs.readFileSync(file)).digest('hex')]));
  const before = digests();
  await command('scripts/generate.sh', [], { quiet: true });
  const stale = [...digests()].filter(([file, digest]) => before.get(file) !== digest).map(([file]) => file);
  if (stale.length > 0) throw new Error(`stale, commit what make generate wrote: ${stale.join(' ')}`);
}
