// The rides, what each stands on, and which of them a change can break: the only list of these. rides.test.mjs holds it
// against the files, and `node scripts/rides.mjs --table` writes it into CONTRIBUTING.md.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { devNull } from 'node:os';
import { fuzzTargets, fuzz } from './fuzz.mjs';
import { goTest } from './runners.mjs';
import { command } from './steps.mjs';

/** What the rides of a folder of e2e stand on, and what one of them wants besides. */
const needs = {
  walk: ['program'],
  'walk/vscode': ['vsix', 'code-server', 'apt CHROMIUM'],
  'walk/neovim': ['neovim'],
  'walk/plain': ['neovim', 'apt TERMINAL'],
  'walk/watch': ['apt TERMINAL'],
  'walk/agent': ['apt TERMINAL', 'agent claude'],
  vscode: ['vsix', 'code-server', 'apt CHROMIUM'],
  'vscode/agents': ['agent claude', 'agent codex'],
  neovim: ['program', 'neovim'],
  'neovim/agents': ['agent claude', 'agent codex', 'agent qwen', 'agent gemini', 'agent opencode'],
  plain: ['program', 'neovim', 'apt TERMINAL'],
  'plain/emacs': ['apt EMACS'],
  'plain/helix': ['helix'],
  terminal: ['program', 'apt TERMINAL'],
  'terminal/forms': ['agent claude', 'agent codex'],
  'terminal/watch': ['agent codex'],
  'terminal/watch-page': ['apt CHROMIUM'],
  'terminal/task': ['agent qwen', 'agent gemini', 'agent opencode'],
  release: ['apt RELEASE', 'release', 'wine', 'node24', 'code-server', 'neovim'],
  build: [],
  fuzz: [],
  go: ['apt GO', 'language-servers', 'gopls'],
};

/** Systems that a change is compiled for and not run on. */
const systems = { 'build/darwin': ['darwin', 'arm64'], 'build/windows': ['windows', 'amd64'] };

/**
 * Which rides a change can break, by the folder of the code that it is in: the longest folder counts, with * for any name. What is in
 * no folder here (docs, tests of Go) has no ride.
 */
export const belongs = {
  agents: ['walk/*', '*/agents', '*/first-edit', 'terminal/*'],
  'agents/acp': ['terminal/task'],
  'agents/gateway': ['*/conversation'],
  'agents/install': ['*/agents', '*/first-edit', 'terminal/forms', 'walk/agent'],
  audit: ['terminal/forms', 'walk/watch'],
  cli: ['walk/*', 'terminal/*', 'build/*', 'release/*', 'neovim/health', 'vscode/doctor'],
  config: ['walk/*', '*/modes', '*/rules', '*/session', 'vscode/doctor'],
  conversation: ['*/conversation'],
  draft: ['*/review'],
  doctor: ['neovim/health', 'vscode/doctor'],
  'e2e/rig': ['*'],
  'internal/clients': ['walk/*', 'plain/*'],
  'internal/fault': ['walk/*'],
  'internal/bug': ['walk/*'],
  'internal/pipe': ['walk/*', '*/process', 'build/*'],
  'internal/state': ['walk/*', '*/session', 'release/*', 'build/*'],
  'internal/pattern': ['walk/*'],
  'internal/way': ['walk/*', '*/files'],
  'internal/wire': ['walk/*', 'plain/*', '*/conversation', 'fuzz/FuzzFrames'],
  'internal/generate': [],
  'internal/house': [],
  'internal/testrig': [],
  'internal/web': [],
  lspbridge: ['walk/plain', 'vscode/language', 'neovim/languages', 'go/long'],
  'nvim-plugin': ['walk/neovim', 'neovim/*', 'release/neovim'],
  page: ['terminal/watch-page'],
  rpc: ['walk/*', 'plain/*', 'vscode/*', 'neovim/*'],
  scripts: ['release/*', 'build/*'],
  sidecar: ['*'],
  terminal: ['walk/watch', 'walk/agent', 'terminal/*', '*/conversation'],
  test: ['go/long'],
  tools: ['walk/*', '*/command', '*/edit', '*/review', '*/queue', '*/patch', 'go/long'],
  'tools/agent': ['walk/*', '*/command', '*/modes', '*/session', 'neovim/own', 'terminal/task', 'terminal/watch-page', 'go/long'],
  'tools/approval': ['walk/*', 'vscode/*', 'neovim/*', 'plain/*', 'terminal/*'],
  'tools/code': ['walk/*', 'vscode/language', 'neovim/languages', 'go/long'],
  'tools/command': ['walk/*', '*/command', '*/process', 'go/long'],
  'tools/dialects': ['*/agents'],
  'tools/file': ['walk/*', '*/edit', '*/files', '*/patch', '*/queue', '*/review', 'neovim/own', 'go/long', 'fuzz/FuzzEditsSpliceBytes'],
  'tools/found': ['*/found'],
  'tools/git': ['walk/*', '*/git', '*/changes', 'go/long'],
  'tools/match': ['*/edit', 'fuzz/FuzzFindText'],
  'tools/patching': ['*/patch', '*/review'],
  'tools/policy': ['walk/*', '*/command', '*/rules', '*/modes', 'terminal/watch'],
  'tools/process': ['walk/*', '*/command', '*/process', 'terminal/task', 'build/*', 'go/long'],
  'tools/schema': ['walk/*', '*/edit'],
  'tools/search': ['walk/*', '*/files', 'neovim/health', 'vscode/doctor', 'go/long'],
  'tools/session': ['walk/*', '*/session', '*/modes'],
  'tools/skills': ['fuzz/FuzzDescribe'],
  'tools/unusual': ['*/unusual'],
  'tools/web': ['walk/*', 'neovim/own', 'go/long'],
  try: ['walk/watch', 'release/install'],
  'vscode-extension': ['walk/vscode', 'vscode/*', 'release/install'],
  workspace: ['walk/*', '*/files', 'fuzz/FuzzResolveStaysInside', 'build/*'],
  'workspace/change': ['walk/*', '*/edit', '*/review', '*/patch', '*/changes', '*/journal', '*/keep', '*/full-disk', 'plain/*', 'build/*', 'fuzz/FuzzMerge', 'go/long'],
  'workspace/diff': ['*/review', 'fuzz/FuzzSelect'],
  'workspace/document': ['walk/*', '*/edit', '*/typing', 'plain/*'],
  'workspace/git': ['*/git', '*/tree', '*/changes'],
  'workspace/gitignore': ['*/files'],
  'workspace/handle': ['*/edit', '*/patch', '*/changes', '*/journal', '*/full-disk', 'fuzz/FuzzMerge'],
  'workspace/journal': ['walk/*', '*/changes', '*/journal', '*/keep'],
  'workspace/language': ['vscode/language', 'neovim/languages'],
  'workspace/lines': ['neovim/small'],
  'workspace/patch': ['*/patch', '*/review', 'fuzz/FuzzParse', 'fuzz/FuzzApply'],
  'workspace/search': ['*/files', 'fuzz/FuzzGlobAgainstRipgrep', 'fuzz/FuzzFind'],
  'workspace/tracking': ['*/changes', '*/tree'],
  'workspace/watch': ['*/changes', '*/tree', 'build/*'],
};

/** Files of the top that everything stands on. */
const everything = ['go.mod', 'go.sum', 'main.go', 'Makefile', 'scripts/versions.env', 'e2e/package-lock.json'];

/** All rides: `{name, needs, file}` for a test file of e2e, `{name, needs, run}` for another one. */
export function rides() {
  const files = fs.readdirSync('e2e', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.js') && !name.includes('node_modules'));
  return [
    ...files.map((file) => ride(file.replace('.test.js', ''), { file })),
    ...Object.entries(systems).map(([name, [GOOS, GOARCH]]) => ride(name, {
      run: () => command('go', ['build', '-buildvcs=false', '-o', devNull, './...'], { env: { GOOS, GOARCH, CGO_ENABLED: '0' }, quiet: true }),
    })),
    ...fuzzTargets.map((target) => ride(`fuzz/${target.name}`, { run: () => fuzz(target) })),
    ride('go/long', { run: long }),
    ride('go/vulnerabilities', { needs: [], run: vulnerabilities }),
  ].sort((a, b) => a.name.localeCompare(b.name));
}

function ride(name, more) {
  const folder = name.split('/')[0];
  if (!(folder in needs)) throw new Error(`${name}: needs says nothing of ${folder}`);
  return { name, needs: [...needs[folder], ...needs[name] ?? []], ...more };
}

/** The Go tests that ask for more than `make test` gives them, and those beside them in a file: more random cases, and language servers that take minutes to build. */
async function long(tally) {
  const files = execFileSync('git', ['grep', '-l', '-E', 'machine\\.(Cases|Rapid)\\(|PILLION_RIDES|^//go:build .*\\brides\\b', '--', '*_test.go'], { encoding: 'utf8' }).trim().split('\n');
  const packages = [...new Set(files.map((file) => `./${path.dirname(file)}`))];
  const tests = files.flatMap((file) => [...fs.readFileSync(file, 'utf8').matchAll(/^func (Test\w+)\(t \*testing\.T\)/gm)].map(([, name]) => name));
  await goTest(['-tags', 'rides', '-run', `^(${tests.join('|')})$`, '-p', '2', '-timeout', '30m'], packages, tally, { env: { PILLION_RIDES: '1' } });
}

/** Without its database govulncheck can say nothing; that is said, and is no failure. It is built only where there is one. */
async function vulnerabilities(tally) {
  const output = [];
  try {
    await command('go', ['run', `golang.org/x/vuln/cmd/govulncheck@${version('GOVULNCHECK_VERSION')}`, './...'], { onLine: (line) => output.push(line) });
  } catch (error) {
    const unreachable = output.find((line) => line.includes('fetching vulnerabilities'));
    if (!unreachable) throw new Error([...output, error.message].join('\n'));
    tally.skipped.push(`its database cannot be had here: ${unreachable}`);
  }
}

function version(name) {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(fs.readFileSync('scripts/versions.env', 'utf8'))[1];
}

/** The rides whose name matches one of these patterns, in which * is any text; a folder is all in it. */
export function matching(all, patterns) {
  const tests = patterns.map((pattern) => new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}(/.*)?$`));
  return all.filter(({ name }) => tests.some((test) => test.test(name)));
}

/** The rides that a change of these files can break. */
export function touchedBy(all, files) {
  const patterns = files.flatMap((file) => {
    if (everything.includes(file)) return ['*'];
    const own = /^e2e\/(.*)\.test\.js$/.exec(file);
    if (own) return [own[1]];
    const editor = /^e2e\/(\w+)\/[^/]*\.js$/.exec(file)?.[1];
    if (editor && editor !== 'rig') return [`${editor}/*`];
    if (file.endsWith('_test.go') || file.includes('/testdata/')) return rowOf(file)?.[1].filter((pattern) => /^(go|fuzz)\//.test(pattern)) ?? [];
    return rowOf(file)?.[1] ?? [];
  });
  return matching(all, patterns);
}

/** The row of the longest folder that the file is in. */
export function rowOf(file) {
  return Object.entries(belongs).filter(([folder]) => file.startsWith(`${folder}/`)).sort(([a], [b]) => b.length - a.length)[0];
}

/** As CONTRIBUTING.md shows it. */
export function table() {
  const rows = Object.entries(belongs).filter(([, patterns]) => patterns.length > 0);
  return ['| a change in | its rides |', '|---|---|', ...rows.map(([folder, patterns]) => `| \`${folder}\` | ${patterns.map((pattern) => `\`${pattern}\``).join(', ')} |`)].join('\n');
}
