/** `pillion watch`: what a person without an editor sees and types. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { agentCases } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { watching } from './watch.js';

watching('reading asks nothing, an edit shows its diff and is made after a', files, async (it) => {
  const { sandbox, terminal } = it;
  const agent = await it.agent();
  assert.match((await agent.call('read_file', { path: 'greet.py' })).text, /Hello/);
  await terminal.sees(/✓ scripted-agent read_file/);
  const call = agent.call('edit_file', edit);
  const screen = await terminal.sees(/Your answer/);
  assert.match(screen, /scripted-agent asks: Edit greet\.py/);
  assert.match(screen, /- {4}return "Hello " \+ name\n.*\+ {4}return f"Hello, \{name\}!"/);
  assert.match(screen, /w {2}approve, and in this folder from now on allow edit_file\(greet\.py\)/);
  await it.picture('edit');
  assert.equal(sandbox.read('greet.py'), greeting);
  await terminal.type('a');
  await terminal.press('Enter');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('greet.py'), edited);
  await terminal.sees(/✓ scripted-agent edit_file/);
});

watching('a reason reaches the agent, and what is cancelled goes on after resume', files, async (it) => {
  const agent = await it.agent();
  let call = agent.call('edit_file', edit);
  await it.answers(/asks: Edit greet\.py/, 'r say good morning');
  assert.match((await call).text, /USER_REJECTED.*say good morning/s);
  assert.equal(it.sandbox.read('greet.py'), greeting);

  call = agent.call('run_command', { command: 'touch made && echo done' });
  await it.answers(/\$ touch made && echo done/, 'c');
  assert.match((await call).text, /CANCELLED/);
  await it.terminal.sees(/scripted-agent is paused\. Type resume/);
  assert.match((await agent.call('read_file', { path: 'greet.py' })).text, /paused/);
  await it.terminal.type('resume');
  await it.terminal.press('Enter');
  await it.terminal.sees(/scripted-agent goes on/);
  call = agent.call('run_command', { command: 'touch made && echo done' });
  await it.answers(/goes on[^]*\$ touch made && echo done/, 'a');
  assert.match((await call).text, /done/);
  assert.ok(it.sandbox.exists('made'));
});

watching('several requests are asked one after the other; what is typed before a question is no answer to it', files, async (it) => {
  const agent = await it.agent();
  await it.terminal.type('a'); // a line that is not finished
  const calls = ['one', 'two', 'three'].map((name) => agent.call('write_file', { path: name, content: name }));
  await it.terminal.sees(/Your answer \([^)]*; 2 more requests wait\):/);
  await it.terminal.press('Enter');
  await it.terminal.sees(/Please type one of the letters[^]*; 2 more requests wait\):\s*$/);
  assert.deepEqual(['one', 'two', 'three'].filter((name) => it.sandbox.exists(name)), []);
  await it.answers(/; 2 more requests wait\):\s*$/, 'a'); // as the last that is on the screen
  await it.answers(/; 1 more request waits\):\s*$/, 'r');
  await it.terminal.sees(/Why\?/);
  await it.terminal.press('Enter');
  await it.answers(/Your answer \([^);]*\): ?$/m, 'a');
  const results = await Promise.all(calls);
  assert.equal(results.filter((result) => !result.isError).length, 2);
  assert.equal(['one', 'two', 'three'].filter((name) => it.sandbox.exists(name)).length, 2);
});

watching('Ctrl+C while a question is open refuses it, says how to come back, and leaves nothing', files, async (it) => {
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await it.terminal.sees(/Your answer/);
  await it.terminal.press('C-c');
  assert.match((await call).text, /APPROVAL_UNAVAILABLE.*run `pillion watch` again/s);
  assert.equal(it.sandbox.read('greet.py'), greeting);
  await eventually('the watch has ended', () => it.sandbox.running(/pillion watch/).length === 0);
  assert.deepEqual(fs.readdirSync(path.join(it.sandbox.home, '.local/state/pillion/relay')), []);
  assert.match((await agent.call('edit_file', edit)).text, /APPROVAL_UNAVAILABLE.*pillion watch/s);
});

agentCases(watching, undefined, ['codex']); // all five: in Neovim
