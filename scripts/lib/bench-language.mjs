// What `make bench` measures of languages: questions to pylsp through the sidecar, against this client asking pylsp itself.
// Both have the same settings, the same project and the same text open.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { median } from './bench-files.mjs';
import { RpcChild } from './rpc-child.mjs';

const milliseconds = () => Number(process.hrtime.bigint()) / 1e6;
const minimum = (numbers) => Math.min(...numbers);

const plugins = { pycodestyle: { enabled: false }, mccabe: { enabled: false }, rope_completion: { enabled: false } };
const settings = { pylsp: { configurationSources: ['pycodestyle'], plugins } };

/** A module of some hundred lines that uses another one, and the library. */
function shop(fault) {
  const sales = Array.from({ length: 100 }, (_, i) => `def sell_${i}(name, prices):\n    log = Path(name).with_suffix('.log').read_text()\n    return total(prices), log\n`);
  return ['from pathlib import Path\nfrom till import total\n', ...sales, `print(${fault})\n`].join('\n');
}

const till = 'def total(prices):\n    """All prices together."""\n    return sum(prices)\n';
// In the middle of the file: total, which stands in the next file, and read_text, for which pylsp follows the library's types.
const places = { near: { line: 3 + 4 * 50 + 2, character: 13 }, far: { line: 3 + 4 * 50 + 1, character: 46 } };

/** pylsp, spoken to directly. */
class Direct {
  #version = 1;
  #published = () => {};

  constructor({ folder, file }, env) {
    this.folder = folder;
    this.uri = pathToFileURL(path.join(folder, file)).href;
    this.text = fs.readFileSync(path.join(folder, file), 'utf8');
    // In a session of its own, as the sidecar's is: Linux shares out a busy machine's time by sessions.
    this.child = new RpcChild('pylsp', [], { framing: 'headers', cwd: folder, env, detached: true });
    this.child.heard = (message) => {
      if (message.method === 'textDocument/publishDiagnostics' && message.params.uri === this.uri) this.#published(message.params.diagnostics);
    };
  }

  async start() {
    const root = pathToFileURL(this.folder).href;
    await this.child.request('initialize', { processId: process.pid, rootUri: root, workspaceFolders: [{ uri: root, name: 'project' }], capabilities: {} });
    this.child.notify('initialized', {});
    this.child.notify('workspace/didChangeConfiguration', { settings });
    this.child.notify('textDocument/didOpen', { textDocument: { uri: this.uri, languageId: 'python', version: 1, text: this.text } });
  }

  ask(what, place = places.near) {
    return this.child.request(`textDocument/${what}`, { textDocument: { uri: this.uri }, position: place });
  }

  change(text) {
    this.child.notify('textDocument/didChange', { textDocument: { uri: this.uri, version: ++this.#version }, contentChanges: [{ text }] });
  }

  /** The faults of a text that is told now. */
  faults(text) {
    return new Promise((resolve) => {
      this.#published = resolve;
      this.change(text);
    });
  }
}

/** The same through a sidecar. */
class Sidecar {
  #version = 1;

  constructor(pillion, { folder, file }, env, enabled = true) {
    this.folder = folder;
    this.file = file;
    this.enabled = enabled;
    this.uri = pathToFileURL(path.join(folder, file)).href;
    this.text = fs.readFileSync(path.join(folder, file), 'utf8');
    this.child = new RpcChild(pillion, ['serve'], { framing: 'headers', cwd: folder, env });
  }

  async start() {
    const languageServers = { servers: { pylsp: { settings, enabled: this.enabled } } };
    await this.child.request('initialize', {
      processId: process.pid, capabilities: {}, workspaceFolders: [{ uri: pathToFileURL(this.folder).href, name: 'project' }], initializationOptions: { languageServers },
    });
    this.child.notify('initialized', {});
    this.child.notify('textDocument/didOpen', { textDocument: { uri: this.uri, languageId: 'python', version: 1, text: this.text } });
  }

  async call(name, args) {
    const result = await this.child.request('tools/call', { name, arguments: { path: this.file, ...args } });
    if (result.isError && this.enabled) throw new Error(`${name}: ${JSON.stringify(result).slice(0, 300)}`);
    return result.structuredContent;
  }

  ask(what, place = places.near) {
    return this.call(`lsp_${what}`, place);
  }

  change(text) {
    this.child.notify('textDocument/didChange', { textDocument: { uri: this.uri, version: ++this.#version }, contentChanges: [{ text }] });
  }

  async faults(text) {
    this.change(text);
    const { diagnostics, status } = await this.call('lsp_diagnostics', {});
    if (status !== 'fresh') throw new Error(`the diagnostics are ${status}`);
    return diagnostics;
  }
}

/** Milliseconds until the last byte of the answer was here. */
async function timed(way, ask) {
  const began = milliseconds();
  const answer = await ask(way);
  return { took: Number(way.child.arrived) / 1e6 - began, answer };
}

/** The two in turn, after a warm-up. */
async function inTurn(ways, rounds, ask) {
  const took = { ours: [], theirs: [] };
  for (let round = -3; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const one = await timed(way, (w) => ask(w, round));
      if (round >= 0) took[name].push(one.took);
    }
  }
  return took;
}

async function named(way, round) {
  const fault = `nobody_${round + 10}`;
  const faults = await way.faults(shop(fault));
  if (!faults.some((f) => f.message.includes(fault))) throw new Error(`${fault} is not among ${JSON.stringify(faults)}`);
}

/** Resident memory of the process alone, in MB. */
function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** What the bridge adds: a sidecar that asks a server, and one that does the same work without. */
async function memories(pillion, project, env) {
  const took = [];
  for (const enabled of [true, false]) {
    const way = new Sidecar(pillion, project, { ...env, HOME: path.join(env.HOME, `memory-${enabled}`) }, enabled);
    fs.mkdirSync(path.join(env.HOME, `memory-${enabled}`));
    await way.start();
    for (let i = 0; i < 100; i++) await way.ask('hover');
    await setTimeout(1000);
    took.push(memory(way.child.pid));
    await way.child.end();
  }
  return Math.max(0, took[0] - took[1]);
}

const keywords = new Set(('False None True and as assert async await break class continue def del elif else except finally for from global if import in is '
  + 'lambda nonlocal not or pass raise return try while with yield').split(' '));

/** The places of the names in a Python text, without those in comments and strings. */
function names(text) {
  const quiet = text.replaceAll(/"""[^]*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|#.*/g, (quoted) => quoted.replaceAll(/[^\n]/g, ' '));
  return quiet.split('\n').flatMap((words, line) => [...words.matchAll(/[A-Za-z_]\w*/g)]
    .filter(([word]) => !keywords.has(word)).map(({ index }) => ({ line, character: index })));
}

/** A real project: pylsp's own source, with its largest file open. */
function realProject(sandbox) {
  const folder = path.join(sandbox, 'real');
  const program = fs.realpathSync(execFileSync('sh', ['-c', 'command -v pylsp'], { encoding: 'utf8' }).trim());
  const python = fs.readFileSync(program, 'utf8').split('\n')[0].slice(2).trim();
  const source = execFileSync(python, ['-c', 'import os, pylsp; print(os.path.dirname(pylsp.__file__))'], { encoding: 'utf8' }).trim();
  fs.cpSync(source, path.join(folder, 'pylsp'), { recursive: true, filter: (name) => path.basename(name) !== '__pycache__' });
  return { folder, file: 'pylsp/python_lsp.py' };
}

/** Questions about a hundred names all over a real file. */
async function realRows({ pillion, sandbox, env, row }) {
  const project = realProject(sandbox);
  const ways = { ours: new Sidecar(pillion, project, env), theirs: new Direct(project, env) };
  for (const way of Object.values(ways)) await way.start();
  const all = names(ways.ours.text);
  const some = Array.from({ length: 100 }, (_, i) => all[Math.floor((i * all.length) / 100)]);
  for (const what of ['hover', 'definition']) {
    const took = { ours: [], theirs: [] };
    for (const place of some) {
      const here = await inTurn(ways, 3, (way) => way.ask(what, place));
      for (const name of Object.keys(took)) took[name].push(median(here[name]));
    }
    row(`${what} of 100 names of a real file, warm, against pylsp itself`, median(took.ours), median(took.theirs), 'ms', 1.15);
  }
  for (const way of Object.values(ways)) await way.child.end();
}

export async function languageRows({ pillion, sandbox, env, row }) {
  const folder = path.join(sandbox, 'languages');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'shop.py'), shop('total([])'));
  fs.writeFileSync(path.join(folder, 'till.py'), till);
  const project = { folder, file: 'shop.py' };
  const ways = { ours: new Sidecar(pillion, project, env), theirs: new Direct(project, env) };
  const first = {};
  for (const [name, way] of Object.entries(ways)) {
    await way.start();
    await setTimeout(3000); // the user reads
    first[name] = (await timed(way, (w) => w.ask('hover'))).took;
  }
  row('first hover, 3 s after the file was opened, against pylsp itself', first.ours, first.theirs, 'ms', 1.15);
  for (const [where, place] of Object.entries(places)) {
    for (const what of ['hover', 'definition']) {
      const [of, rounds] = where === 'far' ? ['of a method of the library', 60] : ['of a function of the next file', 400];
      const took = await inTurn(ways, rounds, (way) => way.ask(what, place));
      row(`${what} ${of}, warm, against pylsp itself`, median(took.ours), median(took.theirs), 'ms', 1.15);
      row('  minimum', minimum(took.ours), minimum(took.theirs), 'ms');
    }
  }
  const took = await inTurn(ways, 20, named);
  row('fresh diagnostics after an edit, against pylsp itself', median(took.ours), median(took.theirs), 'ms', 1.05);
  row('  minimum', minimum(took.ours), minimum(took.theirs), 'ms');
  for (const way of Object.values(ways)) await way.child.end();
  await realRows({ pillion, sandbox, env, row });
  row('memory that the bridge adds, against 10 MB', await memories(pillion, project, env), 10, 'MB', 1);
}
