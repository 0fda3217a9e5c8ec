// What `make bench` measures of git: the kernel's source and a history of 40,000 commits (scripts/setup/git-trees.sh),
// each question to a sidecar against the whole git process that answers it; and our line diff against git's.
// The files that it changes are put back, at the end and, after a run that was interrupted, at the start.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { median } from './bench-files.mjs';
import { RpcChild } from './rpc-child.mjs';

const minimum = (numbers) => Math.min(...numbers);
const milliseconds = () => Number(process.hrtime.bigint()) / 1e6;

/** An agent takes at least this long from one question to the next. */
const thinking = 50;

const gitEnv = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat' };

// bash starts a process in a third of the time that Node takes, which would be counted as git's.
const timer = 'began=$EPOCHREALTIME; "$@" >/dev/null; ended=$EPOCHREALTIME; echo $((${ended/./} - ${began/./}))';

/** Milliseconds that a program took, from start to end. */
export function timed(folder, program, args) {
  const out = execFileSync('bash', ['-c', timer, 'timer', program, ...args], { cwd: folder, env: { ...process.env, ...gitEnv }, encoding: 'utf8' });
  return Number(out) / 1000;
}

const git = (folder, args) => timed(folder, 'git', args);

function gitSays(folder, args) {
  return execFileSync('git', args, { cwd: folder, env: { ...process.env, ...gitEnv }, encoding: 'utf8', maxBuffer: 1 << 30 });
}

export async function sidecar({ pillion, sandbox, env }, folder, settings = {}, heard = undefined) {
  const child = new RpcChild(pillion, ['serve'], { framing: 'headers', cwd: folder, env: { ...env, HOME: path.join(sandbox, 'home-git') } });
  if (heard) child.heard = heard;
  const capabilities = heard ? { experimental: { pillion: {} } } : {}; // only a plugin is told
  await child.request('initialize', { processId: process.pid, capabilities, initializationOptions: settings, workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'project' }] });
  child.notify('initialized', {});
  return child;
}

class Missing extends Error {}

/** Milliseconds until the last byte of the answer was here, and the answer. */
export async function ask(child, name, args) {
  const began = milliseconds();
  const result = await child.request('tools/call', { name, arguments: args });
  const took = Number(child.arrived) / 1e6 - began;
  const { error } = result.structuredContent;
  if (error?.code === 'TOOL_NOT_FOUND') throw new Missing(name);
  if (error) throw new Error(`${name}: ${error.code}: ${error.message}`);
  return { took, answer: result.structuredContent };
}

/** Resident memory of the process alone, in MB. */
export function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** The kernel's source as it was committed, of which one bench at a time may change files. */
export class Tree {
  #round = 0;

  constructor(folder) {
    this.folder = folder;
    this.lock = `${folder}.lock`;
    const holder = fs.existsSync(this.lock) ? fs.readFileSync(this.lock, 'utf8') : '';
    if (holder !== '' && fs.existsSync(`/proc/${holder}`)) throw new Error(`another bench, process ${holder}, is at work in ${folder}`);
    fs.writeFileSync(this.lock, String(process.pid));
    const sources = gitSays(folder, ['ls-files', '*.c']).split('\n').filter((name) => name !== '');
    this.some = Array.from({ length: 10 }, (_, i) => sources[Math.floor(((i + 0.5) * sources.length) / 10)]);
    this.putBack();
    this.texts = this.some.map((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n'));
  }

  /** Changes a line of ten files, to another text each time. */
  change() {
    this.#round++;
    this.some.forEach((name, i) => {
      const lines = this.texts[i].with(this.texts[i].length >> 1, `/* changed ${this.#round} times */`);
      fs.writeFileSync(path.join(this.folder, name), lines.join('\n'));
    });
  }

  /** What Debian adds to the kernel's own rules ignores every folder, in which nobody looks for untracked files then. */
  ignoreLess() {
    const rules = path.join(this.folder, '.gitignore');
    fs.writeFileSync(rules, fs.readFileSync(rules, 'utf8').replace(/^\/\*$/m, ''));
  }

  putBack() {
    gitSays(this.folder, ['checkout', '--quiet', '--force', 'HEAD']);
    gitSays(this.folder, ['clean', '--quiet', '-ffdx']);
    gitSays(this.folder, ['status', '--porcelain']);
  }

  release() {
    this.putBack();
    fs.rmSync(this.lock);
  }
}

/** Measures ours and git's in turn, so often; a tool that does not exist makes a row that says so. */
export async function versus(row, what, limit, rounds, ours, theirs) {
  const took = { ours: [], theirs: [] };
  try {
    for (let round = -1; round < rounds; round++) {
      const one = await ours();
      const other = await theirs();
      if (round < 0) continue; // the first one warms up
      took.ours.push(one);
      took.theirs.push(other);
    }
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    row(`${what}: there is no tool ${error.message}`, undefined, undefined, 'ms', limit);
    return;
  }
  row(what, median(took.ours), median(took.theirs), 'ms', limit);
  row('  minimum', minimum(took.ours), minimum(took.theirs), 'ms');
}

/** One question to a sidecar that has just been started, with a look at the answer. */
async function cold(around, folder, name, args, look) {
  const child = await sidecar(around, folder);
  try {
    const { took, answer } = await ask(child, name, args);
    look(answer);
    return took;
  } finally {
    await child.end();
  }
}

export function expect(what, got, want) {
  if (got !== want) throw new Error(`${what}: ${got}, not ${want}`);
}

async function statuses(around, tree) {
  const { row } = around;
  const files = (n) => (answer) => expect('files in git.status', answer.files.length, n);
  // Its rules ignore all folders, so that both look at what is tracked alone.
  await versus(row, 'git.status of linux in a new sidecar, against git status -uno', 1.5, 5,
    () => cold(around, tree.folder, 'git.status', {}, files(0)), () => git(tree.folder, ['status', '-uno']));
  tree.ignoreLess();
  await versus(row, '  and all folders looked through for untracked files, against git status', 1.5, 5,
    () => cold(around, tree.folder, 'git.status', {}, files(1)), () => git(tree.folder, ['status']));
  tree.putBack();
  const child = await sidecar(around, tree.folder);
  const status = async (n) => {
    await setTimeout(thinking);
    const { took, answer } = await ask(child, 'git.status', {});
    files(n)(answer);
    return took;
  };
  try {
    await ask(child, 'git.status', {});
    await setTimeout(3000); // in which the sidecar has come to watch all folders
    await versus(row, '  again, nothing changed', 0.1, 9, () => status(0), () => git(tree.folder, ['status']));
    await versus(row, '  again, ten files changed since', 0.1, 9, () => {
      tree.change();
      return status(10);
    }, () => git(tree.folder, ['status']));
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    for (const what of ['nothing changed', 'ten files changed since']) row(`  again, ${what}: there is no tool ${error.message}`, undefined, undefined, 'ms', 0.1);
  } finally {
    await child.end();
    tree.putBack();
  }
}

async function diffs(around, tree) {
  const { row } = around;
  tree.change();
  // But for how many letters of a hash are shown.
  const plain = (text) => text.replaceAll(/^index ([0-9a-f]{7})[0-9a-f]*\.\.([0-9a-f]{7})[0-9a-f]*/gm, 'index $1..$2');
  const same = (answer) => expect('the diff', plain(answer.diff), plain(gitSays(tree.folder, ['diff'])));
  await versus(row, 'git.diff of ten changed files of linux in a new sidecar, against git diff', 1.5, 5,
    () => cold(around, tree.folder, 'git.diff', {}, same), () => git(tree.folder, ['diff']));
  const child = await sidecar(around, tree.folder);
  try {
    await ask(child, 'git.diff', {});
    await setTimeout(3000);
    const again = async () => {
      await setTimeout(thinking);
      const { took, answer } = await ask(child, 'git.diff', {});
      same(answer);
      return took;
    };
    await versus(row, '  again, the same files', 0.5, 9, again, () => git(tree.folder, ['diff']));
    await versus(row, '  again, changed since', 0.5, 9, () => {
      tree.change();
      return again();
    }, () => git(tree.folder, ['diff']));
  } finally {
    await child.end();
    tree.putBack();
  }
}

/** All that has been asked above, of one sidecar. */
async function memories(around, tree) {
  const child = await sidecar(around, tree.folder);
  try {
    for (const [name, args] of [['git.status', {}], ['git.diff', {}], ['git.log', { path: 'kernel' }], ['git.show', { ref: 'HEAD', path: 'Makefile' }], ['git.status', {}]]) {
      await ask(child, name, args).catch((error) => {
        if (!(error instanceof Missing)) throw error;
        console.log(`not in the memory's row: ${error.message}, which does not exist`);
      });
    }
    await setTimeout(5000); // watching, and at rest
    around.row('memory of the sidecar on linux, against 150 MB', memory(child.pid), 150, 'MB', 1);
  } finally {
    await child.end();
  }
}

async function logs(around, folder) {
  const { row } = around;
  const hashes = (args) => gitSays(folder, ['log', '--format=%H', ...args]).trim().split('\n').join(' ');
  const file = 'area3/part5/src3/file2223.txt';
  for (const [what, args, theirs, limits] of [
    ['ten commits', {}, ['-10'], [2, 2]],
    ['ten commits of one file', { path: file }, ['-10', '--', file], [3, 3]],
    ['ten commits of one folder', { path: 'area7/part3/src1' }, ['-10', '--', 'area7/part3/src1'], [3, 3]],
  ]) {
    const want = hashes(theirs);
    const look = (answer) => expect('the commits', answer.commits.map((commit) => commit.hash).join(' '), want);
    await versus(row, `git.log of ${what}, of 40,000, in a new sidecar, against git log`, limits[0], 9,
      () => cold(around, folder, 'git.log', args, look), () => git(folder, ['log', ...theirs]));
    const child = await sidecar(around, folder);
    await versus(row, '  again', limits[1], 9, async () => {
      await setTimeout(thinking);
      const { took, answer } = await ask(child, 'git.log', args);
      look(answer);
      return took;
    }, () => git(folder, ['log', ...theirs]));
    await child.end();
  }
}

/** Line diffs of 1 MB, measured in Go: what a call adds is no part of them. */
function textRows({ root, sandbox, row }) {
  const program = path.join(sandbox, 'bench-texts');
  execFileSync('go', ['build', '-buildvcs=false', '-o', program, './scripts/bench'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const folder = path.join(sandbox, 'texts');
  fs.mkdirSync(folder);
  const all = JSON.parse(execFileSync(program, ['-texts', '5', '-folder', folder], { env: { ...process.env, ...gitEnv }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
  for (const { name, typical, ours, theirs, ourLines, theirLines, ourHunks, theirHunks } of all) {
    row(`diff of 1 MB: ${name}, against git diff --no-index`, ours.median, theirs.median, 'ms', typical ? 0.4 : 1);
    row('  minimum', ours.minimum, theirs.minimum, 'ms');
    row(`  changed lines, in ${ourHunks} hunks and ${theirHunks} of git's`, ourLines, theirLines, '');
  }
}

/** Where the kernel's source and the made history are. */
export function trees(around) {
  fs.mkdirSync(path.join(around.sandbox, 'home-git'), { recursive: true });
  return execFileSync(path.join(around.root, 'scripts/setup/git-trees.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** `around` is the project's folder, the program, a folder to work in, an environment, and how a row is told. */
export async function gitRows(around) {
  const place = trees(around);
  textRows(around);
  const tree = new Tree(path.join(place, 'linux'));
  try {
    await statuses(around, tree);
    await diffs(around, tree);
    await memories(around, tree);
  } finally {
    tree.release();
  }
  await logs(around, path.join(place, 'history'));
}
