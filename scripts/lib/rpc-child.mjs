// A JSON-RPC server as a child process, spoken to over stdio: `headers` frames as an editor does, `lines` as MCP does.
import { spawn } from 'node:child_process';

export class RpcChild {
  #child;
  #framing;
  #waiting = new Map();
  #chunks = [];
  #length = 0;
  #next = 1;

  constructor(program, args, { framing, cwd, env, detached = false }) {
    this.#framing = framing;
    this.#child = spawn(program, args, { cwd, env, detached, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout.on('data', (chunk) => this.#take(chunk));
    this.#child.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${program} ended`));
    });
  }

  /** When the last byte of the newest message had come, before anything was made of it: process.hrtime.bigint(). */
  arrived = 0n;

  /** Hears every notification and request of the other side. @type {(message: any) => void} */
  heard = () => {};

  get pid() {
    return this.#child.pid;
  }

  request(method, params) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method, params) {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  async end() {
    const gone = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(late);
  }

  #send(message) {
    const body = JSON.stringify(message);
    this.#child.stdin.write(this.#framing === 'headers' ? `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}` : `${body}\n`);
  }

  // Chunks are joined only when a whole message may be there, so that a megabyte is not copied once a chunk.
  #take(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#framing === 'lines' && !chunk.includes(10)) return;
    if (this.#length < this.#wanted) return;
    this.arrived = process.hrtime.bigint();
    let rest = Buffer.concat(this.#chunks);
    for (let cut = this.#cut(rest); cut; cut = this.#cut(rest)) {
      this.#settle(JSON.parse(rest.toString('utf8', cut.from, cut.to)));
      rest = rest.subarray(cut.next);
    }
    this.#chunks = [rest];
    this.#length = rest.length;
  }

  #wanted = 0;

  #cut(bytes) {
    if (this.#framing === 'lines') {
      const to = bytes.indexOf(10);
      return to < 0 ? undefined : { from: 0, to, next: to + 1 };
    }
    this.#wanted = 0;
    const head = bytes.indexOf('\r\n\r\n');
    if (head < 0) return undefined;
    const from = head + 4;
    const to = from + Number(/content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, head))[1]);
    if (bytes.length < to) {
      this.#wanted = to;
      return undefined;
    }
    return { from, to, next: to };
  }

  #settle(message) {
    if (message.method !== undefined) {
      this.heard(message);
      if (message.id !== undefined) this.#send({ jsonrpc: '2.0', id: message.id, result: null });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  }
}
