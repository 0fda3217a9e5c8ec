// What tests stand on, each made once in a run, however many ask for it: a part of the tool chain (scripts/setup), Debian's
// packages, or something that is built here.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { command } from './steps.mjs';

/** What is built here, by name. */
const built = {
  program: { title: 'build', make: () => command('scripts/build.sh', ['bin/pillion'], { quiet: true }) },
  vsix: { title: 'the extension, packaged', make: () => command('scripts/vsix.sh', [], { quiet: true }) },
  'extension packages': { title: 'extension: packages', make: () => command('scripts/npm-ci.sh', ['vscode-extension'], { quiet: true }) },
  'rig packages': { title: 'end-to-end tests: packages', make: () => command('scripts/npm-ci.sh', ['e2e'], { quiet: true }) },
  release: { title: 'a release, made twice: the same bytes', make: releaseTwice },
};

/** What must be there before it: two that write the same files would meet otherwise. */
const before = { vsix: ['extension packages', 'program'], release: ['extension packages', 'nfpm'] };

export class Needs {
  #made = new Map();
  #steps;

  constructor(steps) {
    this.#steps = steps;
  }

  /** A name of `built`, or a part with its words, such as `neovim`, `agent claude`, `apt CHROMIUM`. Answers the part's folder; undefined if it failed, which the summary says. */
  async get(name) {
    if (!this.#made.has(name)) this.#made.set(name, this.#make(name));
    return this.#made.get(name);
  }

  async all(names) {
    for (const name of names) await this.get(name);
  }

  async #make(name) {
    await this.all(before[name] ?? []);
    const own = built[name];
    return own ? this.#steps.run(own.title, own.make) : this.#steps.run(`set-up: ${name}`, () => part(name));
  }
}

/** Makes a part of the tool chain stand and answers its folder. */
async function part(name) {
  const [script, ...words] = name.split(' ');
  const child = spawn(`scripts/setup/${script}.sh`, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data) => (out += data));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${name} could not be made`);
  return out.trim();
}

/**
 * The same commit gives the same bytes. What was made stays in artifacts/release, for the rides that install it. One after the other: two
 * at once would compile everything for six systems twice.
 */
async function releaseTwice() {
  const places = ['release', 'release-again'].map((name) => path.join('artifacts', name));
  for (const place of places) await command('node', ['scripts/release.mjs', place], { quiet: true });
  await command('diff', ['--recursive', '--brief', ...places]);
  fs.rmSync(places[1], { recursive: true });
}
