/** `pillion watch` in a real terminal of 80 columns and 24 lines, with a person's hands and eyes. */
import fs from 'node:fs';
import path from 'node:path';
import { Terminal } from '../plain/terminal.js';
import { Agent } from '../rig/agent.js';
import { artifacts, pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';

export class Watch {
  /** @type {Agent[]} */
  #agents = [];

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Terminal} terminal */
  constructor(sandbox, terminal) {
    this.sandbox = sandbox;
    this.terminal = terminal;
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  static async open(sandbox) {
    const terminal = await Terminal.start(sandbox, [pillion(), 'watch'], { VISUAL: '/bin/false' }, { columns: 80, rows: 24 });
    await terminal.sees(/Pillion watches/);
    return new Watch(sandbox, terminal);
  }

  /** An agent without forms. @param {string} [name] */
  async agent(name) {
    const agent = await Agent.start(this.sandbox, name);
    this.#agents.push(agent);
    return agent;
  }

  /** Reads the question that is on the screen. @param {RegExp} about @param {number} [within] milliseconds */
  async reads(about, within) {
    await this.terminal.sees(about, within);
    return this.terminal.sees(/Your answer \(.*\): ?$/m);
  }

  /** Reads the question, and types an answer. @param {RegExp} about @param {string} line @param {number} [within] milliseconds */
  async answers(about, line, within) {
    await this.reads(about, within);
    await this.terminal.type(line);
    await this.terminal.press('Enter');
  }

  /** A question, as the cases of all editors have it. @param {import('../rig/cases.js').About} about */
  async question(about) {
    const title = 'file' in about ? `asks: Edit ${about.file}` : `asks: Run ${about.command}`;
    const asked = new RegExp(title.replace(/[.$]/g, '\\$&'));
    return {
      read: async () => { await this.reads(asked); },
      approve: () => this.answers(asked, 'a'),
      reject: (/** @type {string} */ reason = 'no') => this.answers(asked, `r ${reason}`),
      proposes: async (/** @type {string} */ text) => { await this.terminal.sees(new RegExp(text)); },
      ended: async (/** @type {RegExp} */ why) => { await this.terminal.sees(why); },
    };
  }

  /** What is on the screen. @param {string} name */
  async picture(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    fs.writeFileSync(path.join(artifacts, `watch-${name.replace(/\W+/g, '-').slice(0, 60)}.txt`), await this.terminal.screen());
  }

  /** @param {string} name */
  async keep(name) {
    await this.picture(`failed-${name}`);
  }

  async close() {
    for (const agent of this.#agents) await agent.close();
    await this.terminal.close();
  }
}

/** @param {string} name @param {Record<string, string>} files @param {(it: Watch) => Promise<void>} body */
export function watching(name, files, body) {
  inSandbox(`watch: ${name}`, { files, sit: Watch.open }, body);
}
