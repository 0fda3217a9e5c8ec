/**
 * A program in a terminal with a person's hands and eyes: a real pseudo-terminal, kept by tmux. Keys go in, the screen
 * comes out. Nothing here knows which editor it is.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../rig/expect.js';
import { pillion } from '../rig/places.js';

const run = promisify(execFile);

let terminals = 0;

export class Terminal {
  #tmux;
  #env;

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Record<string, string>} env */
  constructor(sandbox, env) {
    this.#tmux = ['-S', path.join(sandbox.root, `tmux-${++terminals}`), '-f', '/dev/null'];
    // The program is found on the PATH, as where a user has installed it.
    this.#env = { ...sandbox.env, PATH: `${path.dirname(pillion())}:${sandbox.env.PATH}`, TERM: 'xterm-256color', ...env };
  }

  /** Starts a program in the project. @param {import('../rig/sandbox.js').Sandbox} sandbox @param {string[]} command
   * @param {Record<string, string>} [env] @param {{columns: number, rows: number}} [size] */
  static async start(sandbox, command, env = {}, { columns, rows } = { columns: 120, rows: 50 }) {
    const terminal = new Terminal(sandbox, env);
    await terminal.#do('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, '-c', sandbox.project, ...command);
    return terminal;
  }

  /** @param {...string} args */
  async #do(...args) {
    return (await run('tmux', [...this.#tmux, ...args], { env: this.#env })).stdout;
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-g`, `M-x`. @param {...string} keys */
  async press(...keys) {
    await this.#do('send-keys', ...keys);
  }

  /** Types text as it stands. @param {string} text */
  async type(text) {
    await this.#do('send-keys', '-l', '--', text);
  }

  /** What is on the screen. */
  async screen() {
    return this.#do('capture-pane', '-p');
  }

  /** Waits until the screen shows this. @param {RegExp} what @param {number} [within] */
  async sees(what, within) {
    return eventually(`the screen shows ${what}`, async () => {
      const screen = await this.screen();
      if (!what.test(screen)) throw new Error(`\n${screen}`);
      return screen;
    }, within);
  }

  /** @param {number} columns @param {number} rows */
  async resize(columns, rows) {
    await this.#do('resize-window', '-x', `${columns}`, '-y', `${rows}`);
  }

  /** Ends the program and the terminal. */
  async close() {
    await this.#do('kill-server').catch(() => undefined); // it may have ended with its program
  }
}
