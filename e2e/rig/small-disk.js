/**
 * A project on a disk of its own that is really small, seen by nobody but what is started on it: a mount namespace with a
 * tmpfs over the project's folder, into which the files were copied.
 */
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from './expect.js';

export class SmallDisk {
  #sandbox;
  #bytes;
  /** A process that lives on it. */
  #inside = 0;

  /** @param {import('./sandbox.js').Sandbox} sandbox @param {number} bytes */
  constructor(sandbox, bytes) {
    this.#sandbox = sandbox;
    this.#bytes = bytes;
  }

  /** The command line in front of the first program that is started on it. */
  get making() {
    const { root, project } = this.#sandbox;
    const beside = path.join(root, 'beside');
    fs.mkdirSync(beside, { recursive: true });
    const copy = 'cp -a "$0/." "$1"; cd "$1"; shift; exec "$@"';
    return ['bwrap', '--dev-bind', '/', '/', '--bind', project, beside, '--size', String(this.#bytes), '--tmpfs', project, 'sh', '-c', copy, beside, project];
  }

  /** In front of the others. */
  get entering() {
    const user = process.getuid?.() === 0 ? [] : ['--user', '--preserve-credentials'];
    return ['nsenter', `--target=${this.#inside}`, '--mount', ...user, 'sh', '-c', 'cd "$0" && exec "$@"', this.#sandbox.project];
  }

  /** Waits until something lives on it. */
  async made() {
    const ours = fs.readlinkSync('/proc/self/ns/mnt');
    this.#inside = await eventually('somebody lives on the small disk', () => this.#sandbox.running(/code-server/)
      .map((line) => Number.parseInt(line, 10)).find((pid) => fs.readlinkSync(`/proc/${pid}/ns/mnt`) !== ours));
  }

  /** @param {string} name in the project */
  path(name) {
    return `/proc/${this.#inside}/root${this.#sandbox.path(name)}`;
  }

  /** @param {string} name */
  read(name) {
    return fs.readFileSync(this.path(name), 'utf8');
  }

  /** All names in its top folder. */
  names() {
    return fs.readdirSync(this.path('.')).sort();
  }

  /** Leaves so many bytes free. @param {string} name of the file that takes the others @param {number} bytes */
  fill(name, bytes) {
    fs.rmSync(this.path(name), { force: true });
    const { bavail, bsize } = fs.statfsSync(this.path('.'));
    fs.writeFileSync(this.path(name), Buffer.alloc(bavail * bsize - bytes));
  }
}
