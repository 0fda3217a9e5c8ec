/**
 * One test in a real Neovim: a sandbox with a project, Neovim on it, and agents. A failure leaves the screen and the
 * sidecar's own words.
 */
import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { Agent } from '../rig/agent.js';
import { browser } from '../rig/browser.js';
import { eventually } from '../rig/expect.js';
import { artifacts } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';
import { Neovim, pages } from './neovim.js';

/** @typedef {import('./neovim.js').Options & {opened?: string}} Begin `opened`: a file that is opened at the start */

export class Ride {
  /** @type {Agent[]} */
  #agents = [];
  /** @type {Neovim[]} */
  #nvims = [];

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  constructor(sandbox) {
    this.sandbox = sandbox;
  }

  /** Starts a Neovim and waits until a person could begin. @param {Begin} [options] */
  async begin({ opened, ...options } = {}) {
    const nvim = await Neovim.start(this.sandbox, options);
    this.#nvims.push(nvim);
    await nvim.ready();
    await eventually('agents can find its sidecar', () => this.#registry().some((entry) => isBelow(entry.pid, nvim.pid)));
    if (opened) await nvim.open(opened);
    return nvim;
  }

  /** The first Neovim. */
  get nvim() {
    return this.#nvims[0];
  }

  /** @param {string} [name] */
  async agent(name) {
    const agent = await Agent.start(this.sandbox, name);
    this.#agents.push(agent);
    return agent;
  }

  /** The question about this, for the cases that every editor has. @param {import('../rig/cases.js').About} about
   * @returns {Promise<import('../rig/cases.js').Question>} */
  async question(about) {
    const { nvim } = this;
    const dialog = await nvim.dialog('file' in about ? about.file : about.command);
    return {
      read: () => dialog.show(),
      approve: () => dialog.answer('approve'),
      reject: (reason = '') => dialog.answer(`reject ${reason}`.trim()),
      proposes: async (text) => {
        await eventually(`the dialog shows ${text}`, async () => (await dialog.proposedText()).join('\n').includes(text));
        await nvim.sees(text);
      },
      ended: async (why) => {
        await eventually('the dialog can no longer be answered', async () => !(await dialog.isOpen()));
        await nvim.sees(why);
      },
    };
  }

  /** @param {string} name */
  picture(name) {
    this.nvim.screenshot(name);
  }

  /** Is this Neovim's sidecar the one whose window the registry holds to be used last? @param {Neovim} nvim */
  focusedLast(nvim) {
    const [last] = this.#registry().toSorted((a, b) => b.focused.localeCompare(a.focused));
    return isBelow(last.pid, nvim.pid);
  }

  /** Where agents look for an editor. @returns {{pid: number, focused: string}[]} */
  #registry() {
    const folder = path.join(this.sandbox.home, '.local/state/pillion/relay');
    const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
    return names.map((file) => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')));
  }

  /** Keeps what helps to understand a failure: the screens, what was said, what the sidecar and the agents' side wrote, and
   * every message between Neovim and its sidecar. @param {string} name */
  async keep(name) {
    const title = `failed-${name.replace(/\W+/g, '-').slice(0, 80)}`;
    fs.mkdirSync(artifacts, { recursive: true });
    const log = [];
    for (const [i, nvim] of this.#nvims.entries()) {
      nvim.screenshot(`${title}${i || ''}`);
      log.push(nvim.screen.text, nvim.stderr);
      if (!nvim.running) continue;
      if ((await nvim.mode()).blocking) await nvim.press('<C-c>'); // it answers nothing else
      log.push(await nvim.messages().catch(String), ...await nvim.log().catch((problem) => [String(problem)]));
    }
    const state = path.join(this.sandbox.home, '.local/state/nvim');
    const names = fs.existsSync(state) ? fs.readdirSync(state, { recursive: true, encoding: 'utf8' }) : [];
    log.push(...names.filter((file) => /\.log$/.test(file)).map((file) => fs.readFileSync(path.join(state, file), 'utf8')));
    fs.writeFileSync(path.join(artifacts, `nvim-${title}.log`), [...log, ...this.#agents.map((agent) => agent.stderr)].join('\n'));
  }

  async close() {
    await Promise.allSettled(this.#agents.map((agent) => agent.close()));
    await Promise.allSettled(this.#nvims.map((nvim) => nvim.close()));
  }
}

/**
 * @param {string} name
 * @param {Record<string, string | Buffer>} files
 * @param {(ride: Ride, t: import('node:test').TestContext) => Promise<void>} body
 * @param {Begin | null} [options] of the Neovim that is there when the body begins; null: none is
 */
export function ride(name, files, body, options = {}) {
  inSandbox(name, { files, sit: (sandbox) => new Ride(sandbox) }, async (it, t) => {
    if (options) await it.begin(options);
    await body(it, t);
  });
}

/** Makes pictures of the pages that a test file leaves, with PICTURES=1: else the pages stay, which any browser shows. Call once in it. */
export function takePictures() {
  after(async () => {
    if (pages.length === 0 || !process.env.PICTURES) return;
    const chromium = await browser();
    try {
      const page = await chromium.newPage();
      for (const file of new Set(pages.splice(0))) {
        await page.goto(`file://${file}`);
        await page.locator('main').screenshot({ path: file.replace(/html$/, 'png') });
        fs.rmSync(file);
      }
    } finally {
      await chromium.close();
    }
  });
}

/** Was it started by this process, or by one that was? @param {number} pid @param {number | undefined} ancestor */
function isBelow(pid, ancestor) {
  while (pid > 1 && pid !== ancestor) pid = Number(/^PPid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return pid === ancestor;
}
