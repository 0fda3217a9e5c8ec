/**
 * Helix: what docs/editors.md tells to paste. It has no message boxes, so a person shows a question by a command, and
 * answers by another. Its buffers are looked at through its own `:pipe-to`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { part } from '../rig/places.js';
import { eventually } from '../rig/expect.js';
import { snippet } from './snippet.js';
import { Terminal } from './terminal.js';

/** @typedef {import('./cases.js').PlainEditor} PlainEditor */

/** @implements {PlainEditor} */
export class Helix {
  #copy;
  #file;
  #log;
  #shown = 0;

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Terminal} terminal @param {string} file */
  constructor(sandbox, terminal, file) {
    this.terminal = terminal;
    this.#file = file;
    this.#copy = path.join(sandbox.root, 'copy');
    this.#log = path.join(sandbox.root, 'helix.log');
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {string} file */
  static async start(sandbox, file) {
    const config = path.join(sandbox.home, '.config/helix');
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, 'languages.toml'), snippet('Helix', 'toml'));
    const env = { HELIX_RUNTIME: path.join(part('helix'), 'root/usr/lib/hx/runtime') };
    return new Helix(sandbox, await Terminal.start(sandbox, [path.join(part('helix'), 'bin/hx'), '-vvv', '--log', path.join(sandbox.root, 'helix.log'), file], env), file);
  }

  /** Leaves insert mode. A key too soon after Escape would be another one, with Alt; so no Escape where none is needed. */
  async #escape() {
    if (/^ NOR /m.test(await this.terminal.screen())) return;
    await this.terminal.press('Escape');
    await this.terminal.sees(/^ NOR /m);
  }

  /** Types a command line. @param {string} line */
  async command(line) {
    await this.#escape();
    await this.terminal.type(`:${line}`);
    await this.terminal.press('Enter');
  }

  /** @param {RegExp} about */
  async look(about) {
    // Each is announced in the status line, which the next key clears: Helix's log keeps it.
    await eventually('a question is announced', () => this.#announced() > this.#shown);
    this.#shown = this.#announced();
    await this.command('lsp-workspace-command pillion.show');
    await this.terminal.sees(about);
  }

  #announced() {
    return this.log().split('\n').filter((line) => line.includes('window/showMessage"') && line.includes('(pillion.show, then')).length;
  }

  /** What went between it and its sidecar. */
  log() {
    return fs.readFileSync(this.#log, 'utf8');
  }

  async approve() {
    await this.command('lsp-workspace-command pillion.approve');
  }

  async refuse() {
    await this.command('lsp-workspace-command pillion.reject');
  }

  async reload() {
    await this.command(`open ${this.#file}`);
    await this.command('reload');
  }

  /** @param {string} text */
  async typeAtEnd(text) {
    await this.#escape();
    await this.terminal.press('g', 'e', 'o');
    await this.terminal.type(text);
    await this.terminal.sees(/^ INS /m);
    await this.#escape();
  }

  /** @returns {Promise<{text: string, modified: boolean}>} */
  async buffer() {
    fs.rmSync(this.#copy, { force: true });
    await this.command(`open ${this.#file}`);
    await this.terminal.press('%');
    await this.command(`pipe-to cat > ${this.#copy}.part && mv ${this.#copy}.part ${this.#copy}`);
    await eventually('the buffer is copied', () => fs.existsSync(this.#copy));
    return { text: fs.readFileSync(this.#copy, 'utf8'), modified: (await this.terminal.screen()).includes(`${this.#file} [+]`) };
  }

  async close() {
    await this.terminal.close();
  }
}
