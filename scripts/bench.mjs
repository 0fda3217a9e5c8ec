// Speed and size against the npm MCP filesystem server, both through this one client in one run, and commands against the
// same ones spawned from Go (scripts/bench), printed as ratios. `bench.mjs files` measures files alone (lib/bench-files.mjs),
// `bench.mjs languages` questions about code (lib/bench-language.mjs), `bench.mjs git` questions about repositories
// (lib/bench-git.mjs), `bench.mjs search` searches (lib/bench-search.mjs), `bench.mjs editor` a request in VS Code
// (lib/bench-editor.mjs), `bench.mjs calls` all else.
// Numbers below the limit are kept promises; this prints, it does not fail: timings belong to no test.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { editorRows } from './lib/bench-editor.mjs';
import { fileRows, median } from './lib/bench-files.mjs';
import { gitRows } from './lib/bench-git.mjs';
import { languageRows } from './lib/bench-language.mjs';
import { plot } from './lib/plot.mjs';
import { searchRows } from './lib/bench-search.mjs';
import { RpcChild } from './lib/rpc-child.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const pillion = path.join(root, 'bin/pillion');
execFileSync(path.join(root, 'scripts/setup/apt.sh'), ['GO', 'BENCH'], { stdio: ['ignore', 'ignore', 'inherit'] });
const peerPart = execFileSync(path.join(root, 'scripts/setup/peer.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
const peer = path.join(peerPart, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const sandbox = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'pillion-bench-'));
const home = path.join(sandbox, 'home');
const project = path.join(sandbox, 'project');
fs.mkdirSync(home);
fs.mkdirSync(project);
fs.writeFileSync(path.join(project, 'small.txt'), `${'x'.repeat(99)}\n`);
fs.writeFileSync(path.join(project, 'large.txt'), `${'some words on a line, and a "quoted" one\n'.repeat(25_600)}`.slice(0, 1 << 20));
const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' };

// Each way in: how to start it, what to say first, and how to read a file.
const mcpHello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
const ways = {
  serve: {
    start: () => new RpcChild(pillion, ['serve'], { framing: 'headers', cwd: project, env }),
    hello: { processId: process.pid, capabilities: {}, workspaceFolders: [{ uri: pathToFileURL(project).href, name: 'project' }] },
    ready: 'initialized',
    read: (child, name) => child.request('tools/call', { name: 'read_file', arguments: { path: name } }),
  },
  mcp: {
    start: () => new RpcChild(pillion, ['mcp'], { framing: 'lines', cwd: project, env }),
    hello: mcpHello,
    ready: 'notifications/initialized',
    // With both ends given it comes whole, as it does from the others.
    read: (child, name) => child.request('tools/call', { name: 'read_file', arguments: { path: name, start_line: 1, end_line: 1e9 } }),
  },
  peer: {
    start: () => new RpcChild(process.execPath, [peer, project], { framing: 'lines', cwd: project, env }),
    hello: mcpHello,
    ready: 'notifications/initialized',
    read: (child, name) => child.request('tools/call', { name: 'read_text_file', arguments: { path: path.join(project, name) } }),
  },
};

const milliseconds = () => Number(process.hrtime.bigint()) / 1e6;

async function open(way) {
  const began = milliseconds();
  const child = way.start();
  await child.request('initialize', way.hello);
  const took = milliseconds() - began;
  child.notify(way.ready, {});
  return { child, took };
}

/** Median milliseconds from spawn to the answer of initialize, the two in turn. */
async function starts(times) {
  const took = { serve: [], peer: [] };
  for (let i = 0; i < times; i++) {
    for (const name of ['serve', 'peer']) {
      const opened = await open(ways[name]);
      took[name].push(opened.took);
      await opened.child.end();
    }
  }
  return { serve: median(took.serve), peer: median(took.peer) };
}

/**
 * Median milliseconds of reading one file, the ways in turn, after a warm-up: until the last byte of the answer is here,
 * and until this client has parsed it, which is its own work and the same for all.
 */
async function reads(children, file, rounds, times) {
  const came = Object.fromEntries(Object.keys(children).map((name) => [name, []]));
  const parsed = structuredClone(came);
  for (let round = -Math.ceil(rounds / 5); round < rounds; round++) {
    for (const [name, child] of Object.entries(children)) {
      for (let i = 0; i < times; i++) {
        const began = milliseconds();
        const result = await ways[name].read(child, file);
        const ended = milliseconds();
        if (result.isError) throw new Error(`${name}: ${JSON.stringify(result).slice(0, 300)}`);
        if (round < 0) continue;
        came[name].push(Number(child.arrived) / 1e6 - began);
        parsed[name].push(ended - began);
      }
    }
  }
  const medians = (took) => Object.fromEntries(Object.entries(took).map(([name, numbers]) => [name, median(numbers)]));
  return { came: medians(came), parsed: medians(parsed) };
}

/** Milliseconds of each read of the small file by so many agents of one sidecar, all at once, in ascending order. */
async function crowd(agents, times) {
  const children = [];
  for (let i = 0; i < agents; i++) children.push((await open(ways.mcp)).child);
  const took = [];
  const work = async (child) => {
    for (let i = -Math.ceil(times / 5); i < times; i++) {
      const began = milliseconds();
      await ways.mcp.read(child, 'small.txt');
      if (i >= 0) took.push(Number(child.arrived) / 1e6 - began);
    }
  };
  await Promise.all(children.map(work));
  await Promise.all(children.map((child) => child.end()));
  return took.sort((a, b) => a - b);
}

/** Resident memory in MB, of the process and what it started. */
function memory(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
}

/** What scripts/bench measures. */
function measured(folder, ...more) {
  const program = path.join(sandbox, 'bench');
  if (!fs.existsSync(program)) execFileSync('go', ['build', '-buildvcs=false', '-o', program, './scripts/bench'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  return JSON.parse(execFileSync(program, ['-pillion', pillion, '-folder', folder, ...more], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** What it measures of commands. */
function commands() {
  const folder = path.join(sandbox, 'commands');
  fs.mkdirSync(folder);
  const block = 'some words on a line, and a "quoted" one\n'.repeat(24_391).slice(0, 1e6);
  fs.writeFileSync(path.join(folder, 'large.txt'), block.repeat(100));
  fs.writeFileSync(path.join(folder, 'small.txt'), block.repeat(10));
  return measured(folder);
}

/** A gateway's call against one by the agents' socket, and how many it gets answered that sends without waiting. */
function gatewayRows() {
  const { ours, theirs, perSecond } = measured(project, '-gateway');
  row("read 100 B by a gateway, against the agents' socket", ours.median, theirs.median, 'ms', 1.5);
  row('  1,000 calls a second, of those that a gateway gets', 1000, perSecond, '/s', 1);
}

const rows = [];
const drawings = [];
const versions = Object.fromEntries(fs.readFileSync(path.join(root, 'scripts/versions.env'), 'utf8').split('\n').map((line) => line.split('=')).filter(([name, value]) => name && value).map(([name, value]) => [name, value.replace(/"/g, '')]));
/** One row; without numbers it is of something that does not exist, which keeps no promise. */
function row(what, ours, theirs, unit, limit) {
  if (ours === undefined) {
    rows.push(['NONE', what, '', '', '', `at most ${limit}`]);
    return;
  }
  const ratio = ours / theirs;
  const kept = limit === undefined ? '    ' : ratio <= limit ? 'ok  ' : 'OVER';
  if (limit !== undefined) drawings.push({ what, ratio, limit });
  rows.push([kept, what, `${ours.toFixed(2)} ${unit}`, `${theirs.toFixed(2)} ${unit}`, ratio.toFixed(3), limit === undefined ? '' : `at most ${limit}`]);
}

/** The rows of commands: the median, and the minimum, which other work on the machine disturbs less. */
function commandRows({ short, stream, megabytes, peak, smallPeak }) {
  for (const { level, ours, theirs } of short) {
    const limit = level === 'none' ? 1.3 : 2;
    row(`run true, sandbox ${level}, against /bin/sh -lc`, ours.median, theirs.median, 'ms', limit);
    row('  minimum', ours.minimum, theirs.minimum, 'ms');
  }
  row(`stream 100 MB of output, against cat (${megabytes.toFixed(0)} MB came, the rest was counted)`, stream.ours.median, stream.theirs.median, 'ms', 2);
  row('  minimum', stream.ours.minimum, stream.theirs.minimum, 'ms');
  row('  peak memory, against that with a tenth of it', peak, smallPeak, 'MB', 1.5);
}

/** The start, the door and commands. */
async function callRows() {
  const start = await starts(10);
  const children = {};
  for (const name of ['serve', 'mcp', 'peer']) children[name] = (await open(ways[name])).child;
  await new Promise((resolve) => setTimeout(resolve, 1500)); // idle, before any work
  const idle = { serve: memory(children.serve.pid), peer: memory(children.peer.pid) };
  const small = await reads(children, 'small.txt', 100, 20);
  const large = await reads(children, 'large.txt', 20, 4);
  const many = await crowd(20, 200);
  for (const child of [children.mcp, children.serve]) await child.end();
  const alone = { mcp: (await open(ways.mcp)).child, peer: children.peer }; // no editor is open any more
  const withoutEditor = await reads(alone, 'small.txt', 100, 20);
  for (const child of Object.values(alone)) await child.end();

  row('start until initialize is answered', start.serve, start.peer, 'ms', 0.06);
  row('read 100 B over stdio', small.came.serve, small.came.peer, 'ms', 0.6);
  row('read 100 B through pillion mcp', small.came.mcp, small.came.peer, 'ms', 1.2); // two processes more than over stdio
  row('  without an editor', withoutEditor.came.mcp, withoutEditor.came.peer, 'ms', 0.5);
  row('  20 agents at once: 99 of 100 reads, against half of them', many[Math.floor(many.length * 0.99)], median(many), 'ms', 5);
  row('read 1 MB over stdio', large.came.serve, large.came.peer, 'ms', 0.6);
  row('read 1 MB through pillion mcp', large.came.mcp, large.came.peer, 'ms', 1);
  row('read 1 MB over stdio, and parse it', large.parsed.serve, large.parsed.peer, 'ms', 1);
  row('idle memory', idle.serve, idle.peer, 'MB', 0.25);
  row('binary, against 30 MB', fs.statSync(pillion).size / 1e6, 30, 'MB', 1);
  gatewayRows();
  commandRows(commands());
}

const parts = { calls: callRows, files: () => fileRows({ pillion, peer, sandbox, env, row }), languages: () => languageRows({ pillion, sandbox, env, row }), git: () => gitRows({ root, pillion, sandbox, env, row }), search: () => searchRows({ root, pillion, sandbox, env, row }), editor: () => editorRows({ root, row }) };
const wanted = process.argv.slice(2).filter((word) => word in parts);
const drawn = path.resolve(process.argv.slice(2).find((word) => word.endsWith('.svg')) ?? path.join(root, 'artifacts/bench.svg'));
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure();
  }

  const machine = `${os.cpus().length} cores (${os.cpus()[0].model.trim()}), ${os.type()} ${os.release()}, ${new Date().toISOString().slice(0, 10)}`;
  const trees = `Trees: linux ${versions.LINUX_SOURCE_VERSION} as Debian packs it, and what the bench makes itself.`;
  fs.mkdirSync(path.dirname(drawn), { recursive: true });
  fs.writeFileSync(drawn, plot(drawings, `${machine}. ${trees}`));
  console.log(`on ${machine}. ${trees} Drawn in ${path.relative(process.cwd(), drawn)}`);
  const head = ['', 'what', 'pillion', 'the other', 'ratio', 'wanted'];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((r) => r[i].length)));
  for (const r of [head, ...rows]) console.log(r.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd());
} finally {
  fs.rmSync(sandbox, { recursive: true, force: true });
}
