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
  await window.screenshot('bar-diff');
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
  await window.screenshot('bar-command');
  await dialog.follow('Approve');
  assert.equal((await call).isError, false);
});

ride('a command is found by its name, and its address is no link', files, async (it) => {
  const { window } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('run_command', { command: 'curl https://example.org/a; rm greet.py' });
  const dialog = await (await window.dialog('Run a command?')).drawn();
  assert.equal(await dialog.page.locator('.detected-link').count(), 0);
  assert.match(await window.page.locator('.part.statusbar').innerText(), /Pillion Page/);
  await window.waiting();
  await window.page.locator('.pane', { has: window.page.locator('.pane-header', { hasText: 'Waiting for You' }) }).locator('.monaco-list-row', { hasText: 'curl' }).first().hover();
  await eventually('it is whole beside the mouse', async () => (await window.hovered()).includes('example.org/a; rm greet.py'));
  await window.screenshot('bar-hover');
  assert.equal(await window.page.locator('.monaco-hover:not(.hidden) a').count(), 0);
  await window.rest();
  await dialog.tab.click();
  await window.command('workbench.action.showCommands');
  await window.page.locator('.quick-input-widget .quick-input-box input').fill('>Pillion: Approve');
  const rows = window.page.locator('.quick-input-widget .monaco-list-row .label-name');
  await rows.first().waitFor();
  await window.screenshot('bar-palette');
  assert.equal((await rows.first().innerText()).trim(), 'Pillion: Approve');
  await window.press('Escape');
  await dialog.press('Reject');
  assert.equal((await call).isError, true);
});
