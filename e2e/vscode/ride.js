/**
 * One test in a real VS Code: a sandbox with a project, a window on it, and agents. A failure leaves a screenshot and the
 * sidecar's own words.
 */
import fs from 'node:fs';
import path from 'node:path';
import { before, after } from 'node:test';
import { Agent } from '../rig/agent.js';
import { rememberingBrowser } from '../rig/browser.js';
import { eventually } from '../rig/expect.js';
import { artifacts } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';
import { Sandbox } from '../rig/sandbox.js';
import { SmallDisk } from '../rig/small-disk.js';
import { CodeServer } from './code-server.js';
import { Workbench } from './workbench.js';

/** What the rides of a test file share, in windows and folders of their own: to start it takes longer than a ride.
 * @type {{machine: Sandbox, server: CodeServer, chromium: import('playwright-core').BrowserContext} | undefined} */
let shared;

/** @typedef {{settings?: Record<string, unknown>, disk?: number}} Options `disk`: the project is on one of so many bytes */

/** Call once in a test file. */
export function shareEditor() {
  before(async () => {
    const machine = Sandbox.empty();
    const server = await CodeServer.start(machine);
    shared = { machine, server, chromium: await rememberingBrowser(path.join(machine.root, 'chromium')) };
  });
  after(async () => {
    await shared?.chromium.close();
    await shared?.server.stop();
    await shared?.machine.dispose();
  });
}

function common() {
  if (!shared) throw new Error('shareEditor() is not called in this test file');
  return shared;
}

export class Ride {
  /** @type {Agent[]} */
  #agents = [];
  /** @type {CodeServer | undefined} */
  #server;
  /** @type {Workbench | undefined} */
  #window;
  #settings;
  #begun = Date.now();

  /** @param {Sandbox} sandbox @param {Options} [options] */
  constructor(sandbox, { settings, disk } = {}) {
    this.sandbox = sandbox;
    this.#settings = settings;
    this.disk = disk === undefined ? undefined : new SmallDisk(sandbox, disk);
  }

  /** Opens a window, and waits until a person could begin. */
  async begin() {
    const { chromium, server } = common();
    this.#server = this.disk ? await CodeServer.start(this.sandbox, this.disk.making) : server;
    await this.disk?.made();
    this.#server.prepare(this.#settings);
    this.#window = await Workbench.open(chromium, this.#server, this.sandbox.project);
    await this.#window.ready();
  }

  get window() {
    if (!this.#window) throw new Error('no window is open');
    return this.#window;
  }

  /** @param {Record<string, unknown>} settings */
  set(settings) {
    this.#server?.set(settings);
  }

  /** @param {string} [name] */
  async agent(name) {
    const agent = await Agent.start(this.sandbox, name, this.disk?.entering);
    this.#agents.push(agent);
    return agent;
  }

  /** The question about this, for the cases that every editor has. @param {import('../rig/cases.js').About} about
   * @returns {Promise<import('../rig/cases.js').Question>} */
  async question(about) {
    const { window } = this;
    const dialog = await window.dialog('file' in about ? new RegExp(`${about.file.replaceAll('.', '\\.')}.*proposes`) : 'Run a command?');
    return {
      read: async () => { await dialog.drawn(); },
      approve: () => dialog.press('Approve'),
      reject: (reason) => reason === undefined ? dialog.press('Reject') : dialog.rejectWithReason(reason),
      proposes: async (text) => { await eventually(`the dialog shows ${text}`, async () => (await dialog.proposedText()).includes(text)); },
      ended: async (why) => {
        await eventually('the dialog can no longer be answered', async () => !(await dialog.isOpen()));
        const page = await window.dialog('Closed request');
        await eventually('the page says why', async () => why.test(await page.pageText()));
      },
    };
  }

  /** @param {string} name */
  async picture(name) {
    await this.window.screenshot(name);
  }

  /** Keeps what helps to understand a failure: the screen, and what the sidecar and the agents' side wrote. @param {string} name */
  async keep(name) {
    const title = `failed-${name.replace(/\W+/g, '-').slice(0, 80)}`;
    if (this.#window && !this.#window.page.isClosed()) await this.#window.screenshot(title);
    fs.mkdirSync(artifacts, { recursive: true });
    fs.writeFileSync(path.join(artifacts, `${title}.log`), [...this.#server?.logs(this.#begun) ?? [], ...this.#agents.map((agent) => agent.stderr), this.#server?.output].join('\n'));
  }

  async close() {
    await Promise.allSettled(this.#agents.map((agent) => agent.close()));
    await this.#window?.close();
    if (this.disk) await this.#server?.stop();
  }
}

/**
 * @param {string} name
 * @param {Record<string, string | Buffer>} files
 * @param {(ride: Ride, t: import('node:test').TestContext) => Promise<void>} body
 * @param {Options} [options]
 */
export function ride(name, files, body, options) {
  const home = () => options?.disk ? undefined : common().server.shared;
  inSandbox(name, { files, sit: (sandbox) => new Ride(sandbox, options), shared: home }, async (it, t) => {
    await it.begin();
    await body(it, t);
  });
}
