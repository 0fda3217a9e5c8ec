/** The rides' own extension in a window (companion/main.js), asked from here. */
import net from 'node:net';
import readline from 'node:readline';
import { eventually } from '../rig/expect.js';

/** @typedef {{label: string, address: string, isActive: boolean, isDirty: boolean}} Tab */

export class Companion {
  #socket;
  #asked = 0;
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();

  /** @param {net.Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    readline.createInterface({ input: socket }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line);
      const asked = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(error));
    });
    socket.on('error', () => undefined); // it closes then
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the window is gone'));
    });
  }

  /** Waits until it listens, which it does once the window has started. @param {string} place */
  static async meet(place) {
    return eventually('the companion listens', () => new Promise((resolve, reject) => {
      const socket = net.connect(place, () => resolve(new Companion(socket))).once('error', reject);
    }));
  }

  /** Starts a command, which may go on to ask something. @param {string} command @param {unknown[]} args */
  async begin(command, ...args) {
    await this.#ask('begin', command, ...args);
  }

  /** Runs a command to its end. @param {string} command @param {unknown[]} args */
  async run(command, ...args) {
    await this.#ask('run', command, ...args);
  }

  /** @param {string} file */
  async open(file) {
    await this.#ask('open', file);
  }

  /** @returns {Promise<Tab[]>} */
  async tabs() {
    return this.#ask('tabs');
  }

  /** @param {string} deed @param {unknown[]} args @returns {Promise<any>} */
  #ask(deed, ...args) {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) {
        reject(new Error('the window is gone'));
        return;
      }
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ id, deed, args })}\n`);
    });
  }

  close() {
    this.#socket.destroy();
  }
}
