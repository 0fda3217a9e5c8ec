/** The reference gateway: its frames as objects. It runs on loopback and ends with the test. */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './expect.js';
import { tree } from './places.js';

/** @typedef {Record<string, any>} Frame */

export class Gateway {
  /** @type {Frame[]} */
  #frames = [];
  #child;

  /** @param {import('node:child_process').ChildProcessByStdio<import('node:stream').Writable, import('node:stream').Readable, null>} child */
  constructor(child) {
    this.#child = child;
  }

  /** @param {string} token */
  static async start(token) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pillion-gateway-'));
    const binary = path.join(folder, 'gateway');
    execFileSync('go', ['build', '-buildvcs=false', '-o', binary, './scripts/gateway'], { cwd: tree, stdio: ['ignore', 'inherit', 'inherit'] });
    const child = spawn(binary, ['--frames', '--token', token], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.once('exit', () => { fs.rmSync(folder, { recursive: true, force: true }); });
    const gateway = new Gateway(child);
    const lines = createInterface({ input: child.stdout });
    gateway.url = await new Promise((resolve) => lines.once('line', resolve));
    lines.on('line', (line) => gateway.#frames.push(JSON.parse(line)));
    return gateway;
  }

  url = '';

  /** @param {Frame} frame */
  send(frame) {
    this.#child.stdin.write(`${JSON.stringify(frame)}\n`);
  }

  /** Breaks the connection. */
  break() {
    this.#child.stdin.write('close\n');
  }

  /** The agent says something, word by word. @param {string} text */
  say(text) {
    for (const token of text.split(/(?<= )/)) this.send({ type: 'assistant_message', token, is_final: false });
    this.send({ type: 'assistant_message', token: '', is_final: true });
  }

  /** Waits for a frame of a type, and takes it. @param {string} type @param {(frame: Frame) => boolean} [is] @returns {Promise<Frame>} */
  async next(type, is = () => true) {
    return eventually(`a frame of type ${type} comes`, () => {
      const at = this.#frames.findIndex((frame) => frame.type === type && is(frame));
      return at >= 0 && this.#frames.splice(at, 1)[0];
    });
  }

  close() {
    this.#child.stdin.end();
  }
}
