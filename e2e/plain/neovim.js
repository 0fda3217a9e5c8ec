/** Neovim without the plugin: what docs/editors.md tells to paste, and nothing else. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { part } from '../rig/places.js';
import { eventually, patience } from '../rig/expect.js';
import { snippet } from './snippet.js';
import { Terminal } from './terminal.js';

/** @typedef {import('./cases.js').PlainEditor} PlainEditor */

/** For the test alone: what went over the wire is kept, and no Python's module is looked for, which takes ten seconds. */
const testsOwn = "vim.lsp.set_log_level('trace')\nvim.g.loaded_python3_provider = 0\n";

/** @implements {PlainEditor} */
export class PlainNeovim {
  #socket;
  #env;
  #home;

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Terminal} terminal @param {Record<string, string>} env */
  constructor(sandbox, terminal, env) {
    this.terminal = terminal;
    this.#env = { ...sandbox.env, ...env };
    this.#home = sandbox.home;
    this.#socket = path.join(sandbox.root, 'nvim');
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {string} file @param {Record<string, string>} [more] of the environment */
  static async start(sandbox, file, more = {}) {
    const config = path.join(sandbox.home, '.config/nvim');
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, 'init.lua'), testsOwn + snippet('Neovim', 'lua'));
    const env = { ...more, VIMRUNTIME: path.join(part('neovim'), 'root/usr/share/nvim/runtime') };
    const command = [path.join(part('neovim'), 'bin/nvim'), '--listen', path.join(sandbox.root, 'nvim'), file];
    return new PlainNeovim(sandbox, await Terminal.start(sandbox, command, env), env);
  }

  async approve() {
    await this.terminal.type('2');
    await this.terminal.press('Enter');
  }

  async refuse() {
    await this.terminal.type('1');
    await this.terminal.press('Enter');
  }

  /** Passes the messages in the way: long ones end with a question of Neovim's own. @param {RegExp} about */
  async look(about) {
    let passed = '';
    await eventually(`the screen shows ${about}`, async () => {
      const screen = await this.terminal.screen();
      if (screen === passed) return false; // the key is on its way
      if (!/^Press ENTER/m.test(screen)) return about.test(screen);
      passed = screen;
      await this.terminal.press('Enter');
    });
  }

  /** @param {string} text */
  async typeAtEnd(text) {
    await this.terminal.press('Escape', 'G', 'o');
    await this.terminal.type(text);
    await this.terminal.press('Escape');
  }

  /** @returns {Promise<{text: string, modified: boolean}>} */
  async buffer() {
    const look = `json_encode(#{text: join(getline(1, '$'), "\\n") . "\\n", modified: &modified ? v:true : v:false})`;
    return JSON.parse(await this.#ask(look));
  }

  /** @param {string} expression */
  async #ask(expression) {
    const { stdout } = await promisify(execFile)(path.join(part('neovim'), 'bin/nvim'), ['--server', this.#socket, '--remote-expr', expression],
      { env: this.#env, timeout: patience });
    return stdout;
  }

  /** What its timer does every second. */
  async looksAtDisk() {
    await this.#ask("execute('silent! checktime')");
  }

  log() {
    return fs.readFileSync(path.join(this.#home, '.local/state/nvim/lsp.log'), 'utf8');
  }

  async close() {
    await this.terminal.close();
  }
}
