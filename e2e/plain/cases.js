/**
 * What any editor without the plugin must do, as cases: a real editor in a real terminal, a real MCP client, and the
 * person's keys between them. Each editor's test file says how that editor's keys are.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Agent } from '../rig/agent.js';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { artifacts } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';

/** @typedef {import('./terminal.js').Terminal} Terminal */
/** @typedef {{terminal: Terminal, approve: () => Promise<void>, refuse: () => Promise<void>, typeAtEnd: (text: string) => Promise<void>,
 *   buffer: () => Promise<{text: string, modified: boolean}>, close: () => Promise<void>, look?: (about: RegExp) => Promise<void>,
 *   reload?: () => Promise<void>, looksAtDisk?: () => Promise<void>, log: () => Promise<string> | string}} PlainEditor
 * `look`: what a person does to see a question that has no box; `reload`: to see what is on disk; `looksAtDisk`: it does at once
 * what it else does every other second; `log`: what went between it and its sidecar, for whoever looks at a failure */
/** @typedef {import('../rig/sandbox.js').Sandbox} Sandbox */
/** @typedef {(sandbox: Sandbox, file: string) => Promise<PlainEditor>} Start */

export class Ride {
  /** @param {Sandbox} sandbox @param {PlainEditor} editor @param {Agent} agent */
  constructor(sandbox, editor, agent) {
    this.sandbox = sandbox;
    this.editor = editor;
    this.agent = agent;
  }

  /** Waits until a question is on the screen. @param {RegExp} [about] */
  async reads(about = /return f"Hello/) {
    await this.editor.look?.(about);
    await this.editor.terminal.sees(about);
  }

  /** Waits until the buffer is so. @param {string} text @param {boolean} modified */
  async holds(text, modified) {
    await eventually(`the buffer holds ${JSON.stringify(text)}`, async () => {
      const now = await this.editor.buffer();
      if (now.text !== text || now.modified !== modified) throw new Error(JSON.stringify(now));
      return true;
    });
  }

  /** Keeps what helps to understand a failure: the screen, and what went between the programs. @param {string} name */
  async keep(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    const kept = path.join(artifacts, `plain-failed-${name.replace(/\W+/g, '-').slice(0, 80)}.txt`);
    const log = await Promise.resolve(this.editor.log()).catch(String);
    fs.writeFileSync(kept, `${await this.editor.terminal.screen().catch(String)}\n${this.agent.stderr}\n${log}`);
  }

  async close() {
    await this.agent.close().catch(() => undefined); // it may never have connected
    await this.editor.close();
  }
}

/** Waits until the editor has started the sidecar, and has told it of the file that is open.
 * @param {Sandbox} sandbox @param {Agent} agent */
async function isReady(sandbox, agent) {
  const registry = path.join(sandbox.home, '.local/state/pillion/relay');
  await eventually('the editor has started the sidecar', () => fs.readdirSync(registry).some((name) => name.endsWith('.json')));
  await agent.connect();
  await eventually('the sidecar knows the open file', async () => (await agent.call('read_file', { path: 'greet.py' })).structured.source === 'buffer');
}

/** One test in a real editor. @param {string} name @param {Start} start @param {(ride: Ride) => Promise<void>} body
 * @param {object} [settings] the user's own */
export function plainly(name, start, body, settings = {}) {
  const sit = async (/** @type {Sandbox} */ sandbox) => {
    const own = path.join(sandbox.home, '.config/pillion');
    fs.mkdirSync(own, { recursive: true });
    fs.writeFileSync(path.join(own, 'settings.json'), JSON.stringify(settings));
    return new Ride(sandbox, await start(sandbox, 'greet.py'), new Agent(sandbox, 'scripted-agent'));
  };
  inSandbox(name, { files, sit }, async (it) => {
    await isReady(it.sandbox, it.agent);
    await body(it);
  });
}

/** The cases that every editor has. @param {string} editor @param {Start} start */
export function cases(editor, start) {
  plainly(`${editor}: approved, the file open and clean: it is written, and the editor shows it`, start, async (it) => {
    const call = it.agent.call('edit_file', edit);
    await it.reads();
    assert.equal(it.sandbox.read('greet.py'), greeting);
    await it.editor.approve();
    const result = await call;
    assert.equal(result.isError, false, result.text);
    assert.equal(result.structured.saved, true);
    assert.equal(it.sandbox.read('greet.py'), edited);
    await it.editor.reload?.();
    await it.holds(edited, false);
  });

  plainly(`${editor}: refused: nothing is touched`, start, async (it) => {
    const call = it.agent.call('edit_file', edit);
    await it.reads();
    await it.editor.refuse();
    assert.equal((await call).structured.error.code, 'USER_REJECTED');
    assert.equal(it.sandbox.read('greet.py'), greeting);
    await it.holds(greeting, false);
  });

  plainly(`${editor}: unsaved text survives: the edit goes into the buffer, and nothing is saved`, start, async (it) => {
    await it.editor.typeAtEnd('# mine, not saved');
    await eventually('the agent reads what is typed but not saved', async () => {
      const { structured } = await it.agent.call('read_file', { path: 'greet.py' });
      return structured.source === 'buffer' && structured.content.includes('# mine, not saved');
    });
    const call = it.agent.call('edit_file', edit);
    await it.reads();
    await it.editor.approve();
    const result = await call;
    assert.equal(result.isError, false, result.text);
    assert.equal(result.structured.saved, false);
    assert.equal(it.sandbox.read('greet.py'), greeting);
    await it.holds(`${edited}# mine, not saved\n`, true);
  });

  plainly(`${editor}: edits that need no question, one after the other, while nobody is there`, start, async (it) => {
    await it.editor.typeAtEnd('# mine, not saved');
    await eventually('the agent reads what is typed but not saved', async () =>
      (await it.agent.call('read_file', { path: 'greet.py' })).structured.content.includes('# mine, not saved'));
    for (const [from, to] of [[edit.old_string, edit.new_string], ['greet("you")', 'greet("me")']]) {
      const result = await it.agent.call('edit_file', { path: 'greet.py', old_string: from, new_string: to });
      assert.equal(result.isError, false, result.text);
      assert.equal(result.structured.saved, false);
    }
    assert.equal(it.sandbox.read('greet.py'), greeting);
    await it.holds(`${edited.replace('"you"', '"me"')}# mine, not saved\n`, true);
  }, { mode: 'auto_edit' });

  plainly(`${editor}: text typed in the very moment of an edit stays in the editor`, start, async (it) => {
    await it.editor.typeAtEnd('# mine, not saved');
    await it.editor.terminal.sees(/# mine, not saved/); // the editor has it, and may not have told of it
    const result = await it.agent.call('edit_file', edit);
    // What comes to the editor in the same moment as the text is not made, and says so.
    if (result.isError) assert.match(result.text, /CONCURRENT_MODIFICATION: .* at the same moment/);
    await it.editor.looksAtDisk?.();
    assert.match(await it.editor.terminal.screen(), /# mine, not saved/);
    // The edit is in the text if the editor had told of it already, else in the file.
    const saved = result.isError ? undefined : result.structured.saved;
    const text = saved === false ? edited : greeting;
    assert.equal(it.sandbox.read('greet.py'), saved ? edited : greeting);
    await it.holds(`${text}# mine, not saved\n`, true);
  }, { mode: 'auto_edit' });

  plainly(`${editor}: the agent gives up: the answer does nothing, and the next question is asked by itself`, start, async (it) => {
    const patience = new AbortController();
    const call = it.agent.call('edit_file', edit, { signal: patience.signal });
    await it.reads();
    patience.abort();
    await assert.rejects(call);
    const next = it.agent.call('write_file', { path: 'next.txt', content: 'the next one\n' });
    await it.agent.call('read_file', { path: 'greet.py' }); // comes after it, and goes to the sidecar and back
    assert.match(await it.editor.terminal.screen(), /return f"Hello/, 'nothing covers the old question');
    await it.editor.approve(); // if it was of the next one, that is made now
    await it.reads(/the next one/);
    assert.equal(it.sandbox.read('greet.py'), greeting);
    assert.equal(it.sandbox.exists('next.txt'), false);
    await it.editor.approve();
    const result = await next;
    assert.equal(result.isError, false, result.text);
    assert.equal(it.sandbox.read('next.txt'), 'the next one\n');
    assert.equal(it.sandbox.read('greet.py'), greeting);
  });
}
