/** Neovim's own wire, MessagePack-RPC, over the standard streams of a Neovim that was started with --embed. */
import { ExtensionCodec, decodeMultiStream, encode } from '@msgpack/msgpack';
import { patience } from '../rig/expect.js';

/** Buffers, windows and tab pages come as their numbers, which Neovim takes back as well. */
const handles = new ExtensionCodec();
for (const type of [0, 1, 2]) {
  handles.register({ type, encode: () => null, decode: (data) => decodeNumber(data) });
}

/** @param {Uint8Array} data a MessagePack integer */
function decodeNumber(data) {
  const bytes = Buffer.from(data);
  switch (bytes[0]) {
    case 0xcc: return bytes.readUInt8(1);
    case 0xcd: return bytes.readUInt16BE(1);
    case 0xce: return bytes.readUInt32BE(1);
    default: return bytes[0];
  }
}

/** @typedef {{resolve: (value: any) => void, reject: (reason: Error) => void}} Waiting */

export class Rpc {
  #out;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #next = 1;
  #onNotification;

  /** @param {import('node:child_process').ChildProcess} child @param {(method: string, args: any[]) => void} onNotification */
  constructor(child, onNotification) {
    if (!child.stdin || !child.stdout) throw new Error('no streams');
    this.#out = child.stdin;
    this.#out.on('error', () => undefined); // it ended: whoever waits is told by #end
    this.#onNotification = onNotification;
    this.#read(child.stdout).then(() => this.#end('it ended'), (error) => this.#end(String(error)));
  }

  /**
   * Asks Neovim. While it shows a question of its own (a swap file, press ENTER) it answers nothing but `nvim_input` and
   * `nvim_get_mode`; what is asked then is answered afterwards.
   * @param {string} method @param {...unknown} args @returns {Promise<any>}
   */
  request(method, ...args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#settle(id, `${method} was not answered: Neovim asks something itself`), patience);
      const done = (/** @type {(v: any) => void} */ act) => (/** @type {any} */ value) => { clearTimeout(late); act(value); };
      this.#waiting.set(id, { resolve: done(resolve), reject: done(reject) });
      this.#out.write(encode([0, id, method, args]));
    });
  }

  /** @param {AsyncIterable<Uint8Array>} stream */
  async #read(stream) {
    for await (const message of decodeMultiStream(stream, { extensionCodec: handles })) {
      const [type, ...rest] = /** @type {any[]} */ (message);
      if (type === 1) this.#settle(rest[0], rest[1] && String(rest[1][1] ?? rest[1]), rest[2]);
      else if (type === 2) this.#onNotification(rest[0], rest[1]);
    }
  }

  /** @param {number} id @param {string | null} error @param {unknown} [result] */
  #settle(id, error, result) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve(result);
  }

  /** @param {string} why */
  #end(why) {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, why);
  }
}
