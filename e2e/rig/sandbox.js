/**
 * A person's machine for one test: a home, a project and an environment of its own, so that nothing reads or writes the
 * real user's configuration, and so that every process started in it can be told apart by its HOME.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { kill, processesIn } from './processes.js';
import { eventually } from './expect.js';

/** A home that one test after the other has, and the programs that stay in it. @typedef {{home: string, stays: RegExp}} Shared */

export class Sandbox {
  #shared;

  /** @param {string} root @param {Shared} [shared] */
  constructor(root, shared) {
    this.root = root;
    this.home = shared?.home ?? path.join(root, 'home');
    this.project = path.join(root, 'project');
    this.#shared = shared;
    fs.mkdirSync(this.home, { recursive: true });
    this.settings({ commands: { readOnly: false } }); // so that any line asks
    fs.mkdirSync(this.project);
  }

  /** With an empty project. @param {Shared} [shared] */
  static empty(shared) {
    // Short, because a Unix socket's whole path has about a hundred bytes.
    return new Sandbox(fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'pillion-')), shared);
  }

  /** @param {Record<string, string | Buffer>} [files] of the project, committed to its git repository @param {Shared} [shared] */
  static create(files = {}, shared) {
    const sandbox = Sandbox.empty(shared);
    for (const [name, text] of Object.entries(files)) sandbox.write(name, text);
    sandbox.git('init', '--quiet', '--initial-branch=main');
    sandbox.git('config', 'user.name', 'Rider');
    sandbox.git('config', 'user.email', 'rider@example.com');
    sandbox.git('add', '--all');
    sandbox.git('commit', '--quiet', '--allow-empty', '--message=first');
    return sandbox;
  }

  /** Writes the person's own settings. @param {object} settings */
  settings(settings) {
    const folder = path.join(this.home, '.config/pillion');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings));
  }

  /** What every program in the sandbox sees. */
  get env() {
    return {
      PATH: process.env.PATH ?? '', HOME: this.home, LANG: 'C.UTF-8', TMPDIR: os.tmpdir(), SHELL: '/bin/bash', USER: os.userInfo().username,
    };
  }

  /** @param {string} name in the project */
  path(name) {
    return path.join(this.project, name);
  }

  /** @param {string} name @param {string | Buffer} text */
  write(name, text) {
    fs.mkdirSync(path.dirname(this.path(name)), { recursive: true });
    fs.writeFileSync(this.path(name), text);
  }

  /** @param {string} name */
  read(name) {
    return fs.readFileSync(this.path(name), 'utf8');
  }

  /** @param {string} name */
  readBytes(name) {
    return fs.readFileSync(this.path(name));
  }

  /** @param {string} name */
  exists(name) {
    return fs.existsSync(this.path(name));
  }

  /** @param {string[]} args */
  git(...args) {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' });
  }

  /** Programs that are running in this sandbox, as command lines. @param {RegExp} [matching] */
  running(matching = /./) {
    return this.#own().filter((p) => matching.test(p.command)).map((p) => `${p.pid} ${p.command}`);
  }

  #own() {
    return processesIn(this.home).filter((p) => !this.#shared?.stays.test(p.command));
  }

  /** Fails unless everything that was started in here has ended, then removes the sandbox. */
  async dispose() {
    try {
      await eventually(`everything ended in ${this.home}`, () => {
        const left = this.running();
        if (left.length > 0) throw new Error(`still running: ${left.join('; ')}`);
        return true;
      });
    } finally {
      for (const left of this.#own()) kill(left.pid);
      for (const name of fs.readdirSync(this.home)) remove(path.join(this.home, name));
      remove(this.root);
    }
  }
}

/** @param {string} place */
function remove(place) {
  fs.rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}
