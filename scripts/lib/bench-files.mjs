// What `make bench` measures of files: an edit against the npm MCP filesystem server's, which syncs nothing and keeps
// nothing; what the journal costs when it has grown; a list of a large tree against fd.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';
import { RpcChild } from './rpc-child.mjs';

const milliseconds = () => Number(process.hrtime.bigint()) / 1e6;
const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
export const median = (numbers) => sorted(numbers)[numbers.length >> 1];
const minimum = (numbers) => sorted(numbers)[0];

/** A sidecar whose agents may edit unasked, with a home, and so a journal, of its own. */
async function sidecar(pillion, folder, env, settings = {}) {
  fs.mkdirSync(env.HOME, { recursive: true });
  const child = new RpcChild(pillion, ['serve'], { framing: 'headers', cwd: folder, env });
  await child.request('initialize', {
    processId: process.pid, capabilities: {}, workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'project' }],
    initializationOptions: { mode: 'auto_edit', limits: { changesPerMinute: 1_000_000 }, ...settings },
  });
  child.notify('initialized', {});
  return child;
}

async function server(peer, folder, env) {
  const child = new RpcChild(process.execPath, [peer, folder], { framing: 'lines', cwd: folder, env });
  await child.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  child.notify('notifications/initialized', {});
  return child;
}

v8.setFlagsFromString('--expose-gc');
/** Collects this client's own garbage: what is left of an answer of 16 MB is not to be collected while the next one is timed. @type {() => void} */
const collect = vm.runInNewContext('gc');

/** Milliseconds until the last byte of the answer was here. */
async function call(child, name, args) {
  const began = milliseconds();
  const result = await child.request('tools/call', { name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result).slice(0, 300)}`);
  return { took: Number(child.arrived) / 1e6 - began, result };
}

/** A text of so many bytes in lines, of which the middle one says which edit it has had. */
function numbered(bytes) {
  const lines = Array.from({ length: Math.ceil(bytes / 50) }, (_, i) => `line ${String(i).padStart(5)} of a text whose lines are as long`);
  lines[lines.length >> 1] = 'edited 0 times';
  return `${lines.join('\n')}\n`;
}

const edited = (i) => `edited ${i} times`;

/** One edit of a file of 100 KB: with and without sync, and the other server, in turn. */
async function edits({ pillion, peer, sandbox, env, row }) {
  const folder = path.join(sandbox, 'edits');
  fs.mkdirSync(folder);
  const homes = (name) => ({ ...env, HOME: path.join(sandbox, `home-${name}`) });
  const ways = {
    synced: { child: await sidecar(pillion, folder, homes('synced')), times: [] },
    unsynced: { child: await sidecar(pillion, folder, homes('unsynced'), { journal: { sync: false } }), times: [] },
    peer: { child: await server(peer, folder, env), times: [] },
  };
  for (const name of Object.keys(ways)) fs.writeFileSync(path.join(folder, `${name}.txt`), numbered(100_000));
  for (let i = 0; i < 110; i++) {
    for (const [name, way] of Object.entries(ways)) {
      const { took } = name === 'peer'
        ? await call(way.child, 'edit_file', { path: path.join(folder, 'peer.txt'), edits: [{ oldText: edited(i), newText: edited(i + 1) }] })
        : await call(way.child, 'edit_file', { path: `${name}.txt`, old_string: edited(i), new_string: edited(i + 1) });
      if (i >= 10) way.times.push(took); // the first ones warm up
    }
  }
  for (const [name, way] of Object.entries(ways)) {
    await way.child.end();
    if (!fs.readFileSync(path.join(folder, `${name}.txt`), 'utf8').includes(edited(110))) throw new Error(`${name}: an edit is missing`);
  }
  const { synced, unsynced, peer: theirs } = ways;
  row('edit 100 KB with journal and fsyncs, against the MCP server’s edit', median(synced.times), median(theirs.times), 'ms', 1.5);
  row('  minimum', minimum(synced.times), minimum(theirs.times), 'ms');
  row('edit 100 KB with journal, journal.sync false', median(unsynced.times), median(theirs.times), 'ms', 0.3);
  row('  minimum', minimum(unsynced.times), minimum(theirs.times), 'ms');
}

/** What was written below a folder, in KB. */
function kilobytes(folder) {
  if (!fs.existsSync(folder)) return 0;
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.map((name) => fs.statSync(path.join(folder, name))).filter((info) => info.isFile()).reduce((sum, info) => sum + info.blocks / 2, 0);
}

/** A thousand edits by quarters: an edit costs what the first ones cost, in time and in the journal's size. */
async function growth({ pillion, sandbox, env, row }) {
  const folder = path.join(sandbox, 'growth');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'file.txt'), numbered(10_000));
  const home = path.join(sandbox, 'home-growth');
  const journal = path.join(home, '.local/state/pillion/journal');
  const child = await sidecar(pillion, folder, { ...env, HOME: home }, { journal: { sync: false } });
  for (let i = 0; i < 20; i++) await call(child, 'edit_file', { path: 'file.txt', old_string: edited(i), new_string: edited(i + 1) });
  const quarters = [];
  for (let quarter = 0; quarter < 4; quarter++) {
    const before = kilobytes(journal);
    const times = [];
    for (let i = 20 + quarter * 250; i < 270 + quarter * 250; i++) {
      times.push((await call(child, 'edit_file', { path: 'file.txt', old_string: edited(i), new_string: edited(i + 1) })).took);
    }
    quarters.push({ time: median(times), size: (kilobytes(journal) - before) / 250 });
  }
  await child.end();
  const told = quarters.map(({ time, size }) => `${time.toFixed(2)} ms and ${size.toFixed(1)} KB`).join(', ');
  console.log(`journal, an edit of 10 KB in each quarter of 1,000: ${told}`);
  row('journal: an edit in the last quarter of 1,000, against the first', quarters[3].time, quarters[0].time, 'ms', 1.2);
  row('  what it adds to the journal', quarters[3].size, quarters[0].size, 'KB', 1.2);
}

/** So many files in folders of a hundred, as a monorepo has them. */
function plant(folder, files) {
  for (let i = 0; i < files / 100; i++) {
    const inner = path.join(folder, `package${i % 40}`, `src${Math.floor(i / 40) % 5}`, `part${i}`);
    fs.mkdirSync(inner, { recursive: true });
    for (let k = 0; k < 100; k++) fs.writeFileSync(path.join(inner, `module${k}.ts`), '');
  }
  fs.writeFileSync(path.join(folder, '.gitignore'), '*.log\nbuild/\n');
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
}

/** Milliseconds until fd has listed the folder, dot files too, as list_files has them. */
async function fd(program, folder, env) {
  const began = milliseconds();
  const child = spawn(program, ['--hidden', '--exclude', '.git', '.'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let lines = 0;
  for await (const chunk of child.stdout) for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  return { took: milliseconds() - began, lines };
}

/** A whole list of 80,000 files against fd: the first in a new sidecar, and one again when nothing has changed; and the 2,000 entries that are given by default. */
async function lists({ pillion, sandbox, env, row }) {
  const program = ['fdfind', 'fd'].find((name) => {
    try {
      return execFileSync(name, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
    } catch {
      return false;
    }
  });
  if (program === undefined) {
    console.log('not run: list_files against fd, which is not installed');
    return;
  }
  const folder = path.join(sandbox, 'tree');
  fs.mkdirSync(folder);
  plant(folder, 80_000);
  const theirs = [];
  const cold = { all: [], some: [] };
  const warm = { all: [], some: [] };
  const asked = { all: { path: '', recursive: true, limit: 200_000 }, some: { path: '', recursive: true } };
  let lines = 0;
  for (let round = 0; round < 7; round++) {
    for (const kind of ['all', 'some']) {
      const child = await sidecar(pillion, folder, { ...env, HOME: path.join(sandbox, `home-list-${kind}-${round}`) });
      collect();
      cold[kind].push((await call(child, 'list_files', asked[kind])).took);
      collect();
      const { took, lines: found } = await fd(program, folder, env);
      theirs.push(took);
      lines = found;
      await setTimeout(1000); // in which the sidecar has come to watch all folders
      let last = await call(child, 'list_files', asked[kind]);
      for (let again = 0; again < 5; again++) {
        collect();
        last = await call(child, 'list_files', asked[kind]);
        warm[kind].push(last.took);
      }
      const { count } = last.result.structuredContent;
      if (kind === 'all' && count !== lines) console.log(`list_files gives ${count} entries, fd ${lines}`);
      await child.end();
    }
  }
  row(`list ${lines} entries, the first time, against fd`, median(cold.all), median(theirs), 'ms', 0.7);
  row('  minimum', minimum(cold.all), minimum(theirs), 'ms');
  row('  again', median(warm.all), median(theirs), 'ms', 0.05);
  row('list the 2,000 entries given by default, the first time', median(cold.some), median(theirs), 'ms', 0.7);
  row('  again', median(warm.some), median(theirs), 'ms', 0.05);
}

/** `around` is the program, the other server, a folder to work in, an environment, and how a row is told. */
export async function fileRows(around) {
  await edits(around);
  await growth(around);
  await lists(around);
}
