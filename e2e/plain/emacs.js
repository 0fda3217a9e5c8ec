/** Emacs with eglot: what docs/editors.md tells to paste. Its state is asked for by emacsclient, for looking alone. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, patience } from '../rig/expect.js';
import { snippet } from './snippet.js';
import { Terminal } from './terminal.js';

/** @typedef {import('./cases.js').PlainEditor} PlainEditor */

/** For the test alone: no compiling in the background, whose warnings come up in a window. Read before packages are loaded, which the rest is not. */
const early = '(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)\n';

/** For the test alone: a way to look in. @param {string} root */
const testsOwn = (root) => `(setq inhibit-startup-screen t server-socket-dir "${root}")\n(server-start)\n`;

/** @implements {PlainEditor} */
export class Emacs {
  #socket;
  #env;
  #file;

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Terminal} terminal @param {string} file */
  constructor(sandbox, terminal, file) {
    this.terminal = terminal;
    this.#file = file;
    this.#env = sandbox.env;
    this.#socket = path.join(sandbox.root, 'server');
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {string} file */
  static async start(sandbox, file) {
    fs.mkdirSync(path.join(sandbox.home, '.emacs.d'));
    fs.writeFileSync(path.join(sandbox.home, '.emacs.d/early-init.el'), early);
    fs.writeFileSync(path.join(sandbox.home, '.emacs'), testsOwn(sandbox.root) + snippet('Emacs', 'elisp'));
    return new Emacs(sandbox, await Terminal.start(sandbox, ['emacs', '-nw', file]), file);
  }

  async approve() {
    await this.#choose('Approve');
  }

  async refuse() {
    await this.terminal.press('Enter'); // Reject stands there
  }

  /** @param {string} button */
  async #choose(button) {
    await this.terminal.press('C-a', 'C-k');
    await this.terminal.type(button);
    await this.terminal.press('Enter');
  }

  /** Leaves the minibuffer. */
  async quit() {
    await this.terminal.press('C-g');
    await eventually('the minibuffer is left', async () => !/Choose an option/.test(await this.terminal.screen()));
  }

  /** Runs a command by its name. @param {string} name */
  async command(name) {
    await this.terminal.press('M-x');
    await this.terminal.sees(/^M-x ?$/m);
    await this.terminal.type(name);
    await this.terminal.press('Enter');
  }

  /** @param {string} text */
  async typeAtEnd(text) {
    await this.terminal.press('M->');
    await this.terminal.type(text);
    await this.terminal.press('Enter');
  }

  /** @returns {Promise<{text: string, modified: boolean}>} */
  async buffer() {
    const look = `(with-current-buffer "${this.#file}" (base64-encode-string (encode-coding-string (json-encode
      (list :text (buffer-substring-no-properties (point-min) (point-max)) :modified (if (buffer-modified-p) t :json-false))) 'utf-8) t))`;
    return JSON.parse(Buffer.from(JSON.parse(await this.#ask(look)), 'base64').toString());
  }

  /** @param {string} form */
  async #ask(form) {
    return (await promisify(execFile)('emacsclient', ['-s', this.#socket, '--eval', form], { env: this.#env, timeout: patience })).stdout;
  }

  /** What its timer does, where the user wants that. */
  async looksAtDisk() {
    await this.#ask('(when (fboundp (quote auto-revert-buffers)) (auto-revert-buffers))');
  }

  log() {
    return this.#ask(`(with-current-buffer "${this.#file}" (with-current-buffer (eglot-events-buffer (eglot-current-server)) (buffer-string)))`);
  }

  async close() {
    await this.terminal.close();
  }
}
