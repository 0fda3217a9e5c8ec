/** VS Code itself, as a server in a sandbox: its own settings and extensions, and the Pillion extension installed. */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { part, program, tree, vsix } from '../rig/places.js';
import { eventually, patience } from '../rig/expect.js';

/** What differs from a fresh VS Code: quiet surroundings, and the desktop's way of saving (a browser saves by itself). */
const quiet = {
  'files.autoSave': 'off',
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'git.openRepositoryInParentFolders': 'never',
  'terminal.integrated.gpuAcceleration': 'off', // drawn as elements, which can be read
  'window.autoDetectColorScheme': process.env.THEMES === 'all',
};

/** A window that vanished without a goodbye counts as closed after this many seconds. */
export const grace = 3;

/** What runs as long as the server does, whatever windows it has. */
const stays = /\.bin\/code-server |\/out\/node\/entry$|--type=(agentHost|ptyHost)|copilot-runtime /;

export class CodeServer {
  #child;
  #sandbox;
  #address = '';
  #windows = 0;
  output = '';

  /** @param {import('node:child_process').ChildProcess} child @param {import('../rig/sandbox.js').Sandbox} sandbox */
  constructor(child, sandbox) {
    this.#child = child;
    this.#sandbox = sandbox;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (this.output += data));
  }

  /** Starts one that has no window yet. @param {import('../rig/sandbox.js').Sandbox} sandbox @param {string[]} [within] a command line that runs it elsewhere */
  static async start(sandbox, within = []) {
    const place = (/** @type {string} */ name) => path.join(sandbox.root, name);
    const env = { ...sandbox.env, PATH: `${part('node24')}/node_modules/.bin:${sandbox.env.PATH}` };
    const folders = ['--user-data-dir', place('vscode'), '--extensions-dir', place('extensions')];
    const server = program('code-server', 'code-server');
    fs.cpSync(path.join(tree, 'e2e/vscode/companion'), path.join(place('extensions'), 'pillion-rides.companion-1.0.0'), { recursive: true });
    execFileSync(server, [...folders, '--install-extension', vsix()], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [command, ...args] = [...within, server];
    const child = spawn(command, [
      ...args, '--auth', 'none', '--bind-addr', '127.0.0.1:0', ...folders, '--disable-workspace-trust', '--disable-telemetry',
      '--disable-update-check', '--reconnection-grace-time', String(grace), sandbox.project,
    ], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const running = new CodeServer(child, sandbox);
    running.#address = await eventually('VS Code listens', () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${running.output}`);
      return /listening on (http:\S+)/.exec(running.output)?.[1];
    });
    return running;
  }

  /** What a sandbox of another test takes over from this one. @returns {import('../rig/sandbox.js').Shared} */
  get shared() {
    return { home: this.#sandbox.home, stays };
  }

  /** Gives the next window settings, and nothing that the last one left. @param {Record<string, unknown>} [settings] of the machine */
  prepare(settings) {
    this.#windows++;
    for (const folder of ['User', 'Machine']) fs.rmSync(this.#place(folder), { recursive: true, force: true });
    this.#write('User', { ...quiet, 'companion.socket': this.companion });
    this.set(settings);
  }

  /** Where the companion of the newest window listens. */
  get companion() {
    return path.join(this.#sandbox.root, `companion-${this.#windows}`);
  }

  /** Writes the settings of this machine, as the user would; the log that a failed ride leaves has all of the wire. @param {Record<string, unknown>} [settings] */
  set(settings) {
    this.#write('Machine', { 'pillion.trace.server': 'verbose', ...settings });
  }

  /** @param {string} folder @param {Record<string, unknown>} settings */
  #write(folder, settings) {
    fs.mkdirSync(this.#place(folder), { recursive: true });
    fs.writeFileSync(path.join(this.#place(folder), 'settings.json'), JSON.stringify(settings));
  }

  /** @param {string} folder */
  #place(folder) {
    return path.join(this.#sandbox.root, 'vscode', folder);
  }

  /** Where a window on a folder is opened. Ours alone logs everything. @param {string} folder */
  url(folder) {
    return `${this.#address}?${new URLSearchParams({ folder, payload: JSON.stringify([['logLevel', 'pillion.pillion:trace']]) })}`;
  }

  get origin() {
    return new URL(this.#address).origin;
  }

  /** What Pillion wrote to its logs. @param {number} since milliseconds */
  logs(since) {
    const folder = this.#place('logs');
    return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /pillion[^/]*\.log$/i.test(file))
      .map((file) => path.join(folder, file)).filter((file) => fs.statSync(file).mtimeMs >= since).map((file) => fs.readFileSync(file, 'utf8'));
  }

  /** Ends it as a person's shutdown would: the processes of a window have time to end their own children. */
  async stop() {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null && this.#child.pid) {
      process.kill(-this.#child.pid, 'SIGTERM');
      const late = setTimeout(() => process.kill(-/** @type {number} */ (this.#child.pid), 'SIGKILL'), patience);
      await gone;
      clearTimeout(late);
    }
  }
}
