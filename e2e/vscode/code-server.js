/** VS Code itself, as a server in a sandbox: its own settings and extensions, and the Pillion extension installed. */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { part, program, vsix } from '../rig/places.js';
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
};

/** A window that vanished without a goodbye counts as closed after this many seconds. */
export const grace = 3;

/** @type {string | undefined} */
let prepared;

/**
 * A folder in which VS Code itself has installed the extension: once for all the tests of a file, since each would wait
 * seconds for the very same.
 * @param {string} server @param {string} PATH
 */
function installed(server, PATH) {
  if (prepared === undefined) {
    const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'pillion-'));
    process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }));
    const place = (/** @type {string} */ name) => path.join(root, name);
    const args = ['--user-data-dir', place('vscode'), '--extensions-dir', place('extensions'), '--install-extension', vsix()];
    execFileSync(server, args, { env: { PATH, HOME: root, LANG: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'pipe'] });
    prepared = place('extensions');
  }
  return prepared;
}

/** Extensions are listed with the folder that they are in. @param {string} from @param {string} to */
function copyExtensions(from, to) {
  fs.cpSync(from, to, { recursive: true });
  const list = path.join(to, 'extensions.json');
  fs.writeFileSync(list, fs.readFileSync(list, 'utf8').replaceAll(from, to));
}

export class CodeServer {
  #child;
  /** @type {string} */
  url = '';
  output = '';

  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (this.output += data));
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Record<string, unknown>} [settings] of the machine
   * @param {string[]} [within] a command line that runs it elsewhere */
  static async start(sandbox, settings = {}, within = []) {
    const place = (/** @type {string} */ name) => path.join(sandbox.root, name);
    for (const [folder, all] of Object.entries({ User: quiet, Machine: settings })) {
      fs.mkdirSync(place(`vscode/${folder}`), { recursive: true });
      fs.writeFileSync(place(`vscode/${folder}/settings.json`), JSON.stringify(all));
    }
    const env = { ...sandbox.env, PATH: `${part('node24')}/node_modules/.bin:${sandbox.env.PATH}` };
    const folders = ['--user-data-dir', place('vscode'), '--extensions-dir', place('extensions')];
    const server = program('code-server', 'code-server');
    copyExtensions(installed(server, env.PATH), place('extensions'));
    const [command, ...args] = [...within, server];
    const child = spawn(command, [
      ...args, '--auth', 'none', '--bind-addr', '127.0.0.1:0', ...folders, '--disable-workspace-trust', '--disable-telemetry',
      '--disable-update-check', '--reconnection-grace-time', String(grace), sandbox.project,
    ], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const running = new CodeServer(child);
    running.url = await eventually('VS Code listens', () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${running.output}`);
      return /listening on (http:\S+)/.exec(running.output)?.[1];
    });
    return running;
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
