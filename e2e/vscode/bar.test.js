/** The answers to a request as links, above what it is about, in a real VS Code. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files } from '../rig/greeting.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('a change is rejected and approved by the links above it; their tips name the keys', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent('claude-code');
  const first = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(/greet\.py.*proposes/)).drawn();
  assert.deepEqual(await dialog.links(), ['Approve', 'Reject', 'Reject with Reason…', 'Approve and Remember…']);
  assert.match(await dialog.link('Approve').getAttribute('title') ?? '', /\(Ctrl\+K Y\)/);
  await window.rest();
  await window.inBothThemes('bar-diff');
  await dialog.follow('Reject');
  assert.equal((await first).isError, true);
  const second = agent.call('edit_file', edit);
  await (await window.dialog(/greet\.py.*proposes/)).follow('Approve');
  assert.equal((await second).isError, false);
  assert.equal(sandbox.read('greet.py'), edited);
});

ride('a command is approved by the link on top of its page', files, async (it) => {
  const { window } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('run_command', { command: 'echo tea > /dev/null && git status' });
  const dialog = await (await window.dialog('Run a command?')).drawn();
  await eventually('the links are there', async () => (await dialog.links()).includes('Edit Command…'));
  await window.rest();
  await window.inBothThemes('bar-command');
  await dialog.follow('Approve');
  assert.equal((await call).isError, false);
});
