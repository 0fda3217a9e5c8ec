// check.mjs [GROUP…]: what `make test` and CI run. Groups: lint, build, go, fuzz, extension, editor, neovim, plain, agents, release; all of them by default.
// Every step runs even when an earlier one failed; the exit code is 1 when anything failed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Steps, command } from './lib/steps.mjs';
import { fuzz } from './lib/fuzz.mjs';
import { luaSteps } from './lib/lua.mjs';
import { goTest, nodeTest, testFiles } from './lib/runners.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const extension = path.join(root, 'vscode-extension');
const endToEnd = path.join(root, 'e2e');
process.chdir(root);

const groups = { lint, build, go, fuzz: fuzzTargets, extension: extensionTests, editor, neovim, plain, agents, release };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in groups));
if (unknown.length > 0) {
  console.error(`check: no group ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
  process.exit(2);
}

const steps = new Steps();
/** Test files of real editors, terminals and browsers, a list for each group that wants some. */
const rides = [];
await steps.run('set-up: Debian packages', () => command('scripts/setup/apt.sh', []));
for (const name of Object.keys(groups)) {
  if (wanted.length === 0 || wanted.includes(name)) await groups[name]();
}
await ride();
process.exitCode = steps.close();

async function lint() {
  let tools = '';
  await steps.run('set-up: Go tools', () => { tools = part('go-tools'); });
  const tool = (name) => path.join(tools, name);
  await Promise.all([lintGo(tool), lintScripts()]);
  await steps.run('generated files are fresh', freshness); // after the packages that it needs, and alone: it compares the whole tree
}

async function lintGo(tool) {
  await steps.run('gofumpt', async () => {
    const unformatted = await command(tool('gofumpt'), ['-l', ...goFiles()], { quiet: true });
    if (unformatted.length > 0) throw new Error(`not formatted, run gofumpt -w: ${unformatted.join(' ')}`);
  });
  await steps.run('go vet', () => command('go', ['vet', './...']));
  await steps.run('staticcheck', () => command(tool('staticcheck'), ['./...']));
  await steps.run('govulncheck', (tally) => govulncheck(tool('govulncheck'), tally));
}

async function lintScripts() {
  await steps.run('extension: packages', () => command('scripts/npm-ci.sh', [extension], { quiet: true }));
  await steps.run('extension: types', () => command('npm', ['run', '--silent', 'check'], { cwd: extension }));
  await steps.run('extension: eslint', () => command('npm', ['run', '--silent', 'lint'], { cwd: extension }));
  await steps.run('end-to-end tests: packages', () => command('scripts/npm-ci.sh', [endToEnd], { quiet: true }));
  await steps.run('end-to-end tests: types', () => command('npm', ['run', '--silent', 'check'], { cwd: endToEnd }));
}

async function build() {
  await steps.run('build', () => command('scripts/build.sh', ['bin/pillion']));
  for (const [os, arch] of [['darwin', 'arm64'], ['windows', 'amd64']]) {
    const env = { GOOS: os, GOARCH: arch, CGO_ENABLED: '0' };
    await steps.run(`cross-compile: ${os}/${arch}`, () => command('go', ['build', '-buildvcs=false', '-o', devNull, './...'], { env }));
  }
}

async function go() {
  await steps.run('set-up: language servers', () => part('language-servers'));
  await steps.run('set-up: gopls', () => part('gopls'));
  const house = 'pillion/internal/house'; // reads the sources of all others: there is nothing to race, and much to slow down
  const packages = (await command('go', ['list', './...'], { quiet: true })).filter((name) => name !== house);
  await steps.run('go test: the rules of the house', (tally) => goTest([], [house], tally));
  // These start thousands of programs, of ours and of others, which takes thrice as long with the race detector: `RACE=all` has it for them too.
  const programs = ['test', 'tools', 'tools/process', 'tools/found', 'tools/policy', 'workspace/git', 'workspace/diff', 'workspace/patch'].map((name) => `pillion/${name}`);
  const raced = process.env.RACE === 'all' ? packages : packages.filter((name) => !programs.includes(name));
  const atOnce = ['-p', '3', '-timeout', '30m']; // tests wait more than they work
  // A program with the race detector sleeps a second before it exits, and the tests start hundreds.
  await steps.run('go test -race', (tally) => goTest(['-race', ...atOnce], raced, tally, { env: { GORACE: 'atexit_sleep_ms=50' } }));
  if (raced.length < packages.length) await steps.run('go test', (tally) => goTest(atOnce, programs, tally));
}

async function fuzzTargets() {
  await steps.run('fuzzing', fuzz);
}

async function extensionTests() {
  await steps.run('extension: packages', () => command('scripts/npm-ci.sh', [extension], { quiet: true }));
  await steps.run('extension: unit tests', (tally) => nodeTest('npm', ['test', '--silent'], tally, { cwd: extension }));
}

/** The real VS Code and the real agents. */
async function editor() {
  await steps.run('set-up: VS Code', () => part('code-server'));
  await steps.run('set-up: agents', () => part('agents'));
  await steps.run('the extension, packaged', () => command('scripts/vsix.sh', [], { quiet: true }));
  rides.push(testsOf('vscode'));
}

/** The real Neovim and the real agents. */
async function neovim() {
  await steps.run('set-up: Neovim', () => part('neovim'));
  await steps.run('set-up: agents', () => part('agents'));
  await steps.run('the program that Neovim starts', () => command('scripts/build.sh', ['bin/pillion']));
  await luaSteps(steps, part, projectFiles());
  rides.push(testsOf('neovim'));
}

/** Real editors without a plugin of ours. */
async function plain() {
  await steps.run('set-up: Neovim', () => part('neovim'));
  await steps.run('set-up: Helix', () => part('helix'));
  await steps.run('the program that the editors start', () => command('scripts/build.sh', ['bin/pillion']));
  rides.push(testsOf('plain'));
}

/** Agents and people in terminals and browsers, without an editor. */
async function agents() {
  await steps.run('set-up: agents', () => part('agents'));
  await steps.run('the program that agents start', () => command('scripts/build.sh', ['bin/pillion']));
  rides.push(testsOf('terminal'));
}

/** A release, twice at once: the same commit gives the same bytes. Its artefacts are installed in the tests that follow. */
async function release() {
  for (const name of ['nfpm', 'wine', 'node24', 'code-server', 'neovim']) await steps.run(`set-up: ${name}`, () => part(name));
  await steps.run('extension: packages', () => command('scripts/npm-ci.sh', [extension], { quiet: true }));
  await steps.run('a release, made twice', async () => {
    const places = ['release', 'release-again'].map((name) => path.join(root, 'artifacts', name));
    await Promise.all(places.map((place) => command('node', ['scripts/release.mjs', place], { quiet: true })));
    await command('diff', ['--recursive', '--brief', ...places]);
    fs.rmSync(places[1], { recursive: true });
  });
  rides.push(testsOf('release'));
}

/**
 * Each file has sandboxes of its own, so that any can run beside any other. A ride in VS Code keeps a core and a half busy, and
 * two of them take twice the time: those are at one end, and the others, which wait most of their time, at the other.
 */
async function ride() {
  if (rides.length === 0) return;
  await steps.run('end-to-end tests: packages', () => command('scripts/npm-ci.sh', [endToEnd], { quiet: true }));
  await steps.run('in real editors, terminals and browsers, with real agents', (tally) => testFiles(rides.flat(), tally, { cwd: endToEnd }));
}

/** The test files of one folder. */
function testsOf(editor) {
  return fs.readdirSync(path.join(endToEnd, editor)).filter((name) => name.endsWith('.test.js')).map((name) => path.join(editor, name));
}

/** Makes a part of the tool chain stand and answers its folder. */
function part(name) {
  return execFileSync(`scripts/setup/${name}.sh`, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** Files of the project, tracked or about to be: what git would show, without what it ignores. */
function projectFiles() {
  return execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\0').filter((file) => file !== '' && fs.existsSync(file));
}

function goFiles() {
  return projectFiles().filter((file) => file.endsWith('.go'));
}

/** Generates everything and compares: what changed was stale, and is now fresh on disk. */
async function freshness() {
  const digests = () => new Map(projectFiles().map((file) => [file, createHash('sha256').update(fs.readFileSync(file)).digest('hex')]));
  const before = digests();
  await command('scripts/generate.sh', [], { quiet: true });
  const stale = [...digests()].filter(([file, digest]) => before.get(file) !== digest).map(([file]) => file);
  if (stale.length > 0) throw new Error(`stale, commit what make generate wrote: ${stale.join(' ')}`);
}

/** Without its database govulncheck can say nothing; that is said, and is no failure. */
async function govulncheck(program, tally) {
  const output = [];
  try {
    await command(program, ['./...'], { onLine: (line) => output.push(line) });
  } catch (error) {
    const unreachable = output.find((line) => line.includes('fetching vulnerabilities'));
    if (!unreachable) {
      for (const line of output) console.log(line);
      throw error;
    }
    tally.passed = 0;
    tally.skipped.push(`its database cannot be had here: ${unreachable}`);
    console.log(`not run, its database cannot be had here: ${unreachable}`);
  }
}
