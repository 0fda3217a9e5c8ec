/**
 * Stands between Neovim and its sidecar: `node held-wire.js FOLDER PROGRAM ARGS…` passes every frame on, but while
 * FOLDER/hold is there it keeps the sidecar's requests of the method that stands in it (and what comes after one) back. So a
 * test decides what happens between the plan of an edit, say, and its arrival. FOLDER/frames has every frame, one a line; one of
 * the sidecar's that is not held stands there when Neovim has it to read.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../rig/expect.js';
import { pillion } from '../rig/places.js';

/** A test's side of it. */
export class HeldWire {
  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  constructor(sandbox) {
    this.folder = path.join(sandbox.root, 'wire');
    fs.mkdirSync(this.folder);
  }

  /** The program that Neovim is to start in place of `pillion`. */
  get program() {
    const program = path.join(this.folder, 'pillion');
    const words = [process.execPath, fileURLToPath(import.meta.url), this.folder, pillion()].map((word) => `'${word}'`);
    fs.writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
    return program;
  }

  hold(method = 'document/edit') {
    fs.writeFileSync(path.join(this.folder, 'hold'), method);
  }

  release() {
    fs.rmSync(path.join(this.folder, 'hold'));
  }

  /** Every frame so far. @returns {{from: 'editor' | 'sidecar', message: any}[]} */
  frames() {
    const whole = fs.readFileSync(path.join(this.folder, 'frames'), 'utf8').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line));
  }

  /** Waits for the nth `document/edit` of the sidecar, held or not. @param {number} [nth] */
  async edit(nth = 1) {
    return eventually('the sidecar sends document/edit', () => this.#edits()[nth - 1]);
  }

  /** What the editor answered to the nth `document/edit`. @param {number} [nth] */
  async answer(nth = 1) {
    const { id } = await this.edit(nth);
    return eventually('the editor answers document/edit', () =>
      this.frames().find(({ from, message }) => from === 'editor' && message.id === id && message.method === undefined)?.message.result);
  }

  #edits() {
    return this.frames().filter(({ from, message }) => from === 'sidecar' && message.method === 'document/edit').map(({ message }) => message);
  }
}

/** Cuts a stream into frames. @param {AsyncIterable<Buffer>} stream */
async function* framesOf(stream) {
  let rest = Buffer.alloc(0);
  for await (const piece of stream) {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const head = rest.indexOf('\r\n\r\n');
      if (head < 0) break;
      const end = head + 4 + Number(/content-length: *(\d+)/i.exec(rest.toString('latin1', 0, head))?.[1]);
      if (rest.length < end) break;
      yield { raw: rest.subarray(0, end), message: JSON.parse(rest.toString('utf8', head + 4, end)) };
      rest = rest.subarray(end);
    }
  }
}

/** @param {string[]} argv */
async function main([folder, program, ...args]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const note = (/** @type {string} */ from, /** @type {object} */ message) => fs.appendFileSync(path.join(folder, 'frames'), `${JSON.stringify({ from, message })}\n`);
  const hold = path.join(folder, 'hold');
  const held = (/** @type {any} */ message) => message.method && fs.existsSync(hold) && fs.readFileSync(hold, 'utf8') === message.method;
  child.on('close', (code) => process.exit(code ?? 1));
  const inwards = async () => {
    for await (const { raw, message } of framesOf(process.stdin)) {
      note('editor', message);
      child.stdin.write(raw);
    }
    child.stdin.end();
  };
  const outwards = async () => {
    for await (const { raw, message } of framesOf(child.stdout)) {
      if (held(message)) {
        note('sidecar', message);
        await eventually('it is let go', () => !held(message));
        process.stdout.write(raw);
      } else {
        process.stdout.write(raw); // a pipe: it is there when this returns
        note('sidecar', message);
      }
    }
  };
  await Promise.all([inwards(), outwards()]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
