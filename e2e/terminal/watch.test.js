/** `pillion watch` in a real terminal of 80 columns and 24 lines: what a person without an editor sees and types. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Terminal } from '../plain/terminal.js';
import { Agent } from '../rig/agent.js';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { artifacts, pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';

class Watch {
  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Terminal} terminal @param {Agent} agent */
  constructor(sandbox, terminal, agent) {
    this.sandbox = sandbox;
    this.terminal = terminal;
    this.agent = agent;
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  static async open(sandbox) {
    const terminal = await Terminal.start(sandbox, [pillion(), 'watch'], { VISUAL: '/bin/false' }, { columns: 80, rows: 24 });
    await terminal.sees(/Pillion watches/);
    return new Watch(sandbox, terminal, await Agent.start(sandbox));
  }

  /** Reads the question, and types an answer. @param {RegExp} about @param {string} line */
  async answers(about, line) {
    await this.terminal.sees(about);
    await this.terminal.sees(/Your answer \(.*\): ?$/m);
    await this.terminal.type(line);
    await this.terminal.press('Enter');
  }

  /** @param {string} name */
  async keep(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    fs.writeFileSync(path.join(artifacts, `${name.replace(/\W+/g, '-').slice(0, 60)}.txt`), await this.terminal.screen());
  }

  async close() {
    await this.agent.close();
    await this.terminal.close();
  }
}

/** @param {string} name @param {(it: Watch) => Promise<void>} body */
function watching(name, body) {
  inSandbox(name, { files, timeout: 120_000, sit: Watch.open }, body);
}

watching('watch: reading asks nothing, an edit shows its diff and is made after a', async (it) => {
  const { sandbox, terminal, agent } = it;
  assert.match((await agent.call('read_file', { path: 'greet.py' })).text, /Hello/);
  await terminal.sees(/✓ scripted-agent read_file/);
  const call = agent.call('edit_file', edit);
  const screen = await terminal.sees(/Your answer/);
  assert.match(screen, /scripted-agent asks: Edit greet\.py/);
  assert.match(screen, /- {4}return "Hello " \+ name\n.*\+ {4}return f"Hello, \{name\}!"/);
  assert.match(screen, /w {2}approve, and in this folder from now on allow edit_file\(greet\.py\)/);
  await it.keep('watch-edit');
  assert.equal(sandbox.read('greet.py'), greeting);
  await terminal.type('a');
  await terminal.press('Enter');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('greet.py'), edited);
  await terminal.sees(/✓ scripted-agent edit_file/);
});

watching('watch: a reason reaches the agent, and what is cancelled goes on after resume', async (it) => {
  let call = it.agent.call('edit_file', edit);
  await it.answers(/asks: Edit greet\.py/, 'r say good morning');
  assert.match((await call).text, /USER_REJECTED.*say good morning/s);
  assert.equal(it.sandbox.read('greet.py'), greeting);

  call = it.agent.call('run_command', { command: 'touch made && echo done' });
  await it.answers(/\$ touch made && echo done/, 'c');
  assert.match((await call).text, /CANCELLED/);
  await it.terminal.sees(/scripted-agent is paused\. Type resume/);
  assert.match((await it.agent.call('read_file', { path: 'greet.py' })).text, /paused/);
  await it.terminal.type('resume');
  await it.terminal.press('Enter');
  await it.terminal.sees(/scripted-agent goes on/);
  call = it.agent.call('run_command', { command: 'touch made && echo done' });
  await it.answers(/goes on[^]*\$ touch made && echo done/, 'a');
  assert.match((await call).text, /done/);
  assert.ok(it.sandbox.exists('made'));
});

watching('watch: several requests are asked one after the other; what is typed before a question is no answer to it', async (it) => {
  await it.terminal.type('a'); // a line that is not finished
  const calls = ['one', 'two', 'three'].map((name) => it.agent.call('write_file', { path: name, content: name }));
  await it.terminal.sees(/Your answer \([^)]*; 2 more requests wait\):/);
  await it.terminal.press('Enter');
  await it.terminal.sees(/Your answer/);
  assert.deepEqual(['one', 'two', 'three'].filter((name) => it.sandbox.exists(name)), []);
  await it.answers(/2 more requests wait/, 'a');
  await it.answers(/1 more request waits/, 'r');
  await it.terminal.sees(/Why\?/);
  await it.terminal.press('Enter');
  await it.answers(/Your answer \([^);]*\): ?$/m, 'a');
  const results = await Promise.all(calls);
  assert.equal(results.filter((result) => !result.isError).length, 2);
  assert.equal(['one', 'two', 'three'].filter((name) => it.sandbox.exists(name)).length, 2);
});

watching('watch: Ctrl+C while a question is open refuses it, says how to come back, and leaves nothing', async (it) => {
  const call = it.agent.call('edit_file', edit);
  await it.terminal.sees(/Your answer/);
  await it.terminal.press('C-c');
  assert.match((await call).text, /APPROVAL_UNAVAILABLE.*run `pillion watch` again/s);
  assert.equal(it.sandbox.read('greet.py'), greeting);
  await eventually('the watch has ended', () => it.sandbox.running(/pillion watch/).length === 0);
  assert.deepEqual(fs.readdirSync(path.join(it.sandbox.home, '.local/state/pillion/relay')), []);
  assert.match((await it.agent.call('edit_file', edit)).text, /APPROVAL_UNAVAILABLE.*pillion watch/s);
});
