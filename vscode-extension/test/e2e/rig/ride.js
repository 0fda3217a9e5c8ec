/**
 * One test in a real VS Code: a sandbox with a project, a window on it, and agents. Whatever happens, everything is
 * closed, what is left running fails the test, and a failure leaves a screenshot and the sidecar's own words.
 */
import fs from 'node:fs';
import path from 'node:path';
import { test, before, after } from 'node:test';
import { Agent } from './agent.js';
import { CodeServer } from './code-server.js';
import { artifacts } from './places.js';
import { Sandbox } from './sandbox.js';
import { Workbench, browser } from './workbench.js';

/** @type {import('playwright-core').Browser} */
let chromium;

/** Call once in a test file. */
export function shareBrowser() {
  before(async () => { chromium = await browser(); });
  after(async () => { await chromium.close(); });
}

export class Ride {
  /** @type {Agent[]} */
  #agents = [];

  /** @param {Sandbox} sandbox @param {CodeServer} server @param {Workbench} window */
  constructor(sandbox, server, window) {
    this.sandbox = sandbox;
    this.server = server;
    this.window = window;
  }

  /** @param {string} [name] */
  async agent(name) {
    const agent = await Agent.start(this.sandbox, name);
    this.#agents.push(agent);
    return agent;
  }

  async close() {
    await Promise.allSettled(this.#agents.map((agent) => agent.close()));
    await this.window.close();
    await this.server.stop();
  }
}

/** What helps to understand a failure: the screen, and what the sidecar wrote. @param {string} name @param {Ride} ride */
async function keep(name, { sandbox, window }) {
  const title = `failed-${name.replace(/\W+/g, '-').slice(0, 60)}`;
  if (!window.page.isClosed()) await window.screenshot(title);
  const logs = path.join(sandbox.root, 'vscode/logs');
  const names = fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true, encoding: 'utf8' }) : [];
  const words = names.filter((file) => /pillion[^/]*\.log$/i.test(file)).map((file) => fs.readFileSync(path.join(logs, file), 'utf8'));
  fs.mkdirSync(artifacts, { recursive: true });
  fs.writeFileSync(path.join(artifacts, `${title}.log`), words.join('\n'));
}

/**
 * @param {string} name
 * @param {Record<string, string>} files
 * @param {(ride: Ride, t: import('node:test').TestContext) => Promise<void>} body
 */
export function ride(name, files, body) {
  test(name, { timeout: 180_000 }, async (t) => {
    const sandbox = Sandbox.create(files);
    try {
      const server = await CodeServer.start(sandbox);
      const window = await Workbench.open(chromium, server.url);
      await window.ready();
      const it = new Ride(sandbox, server, window);
      try {
        await body(it, t);
      } catch (error) {
        await keep(name, it);
        throw error;
      } finally {
        await it.close();
      }
    } finally {
      await sandbox.dispose();
    }
  });
}
