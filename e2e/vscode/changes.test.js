/** What an agent changed, in a real VS Code: merged with what the human types, marked, listed, and taken back. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { ride, shareBrowser } from './ride.js';

const proposal = /greet\.py.*proposes/;

shareBrowser();

ride('typing in the file while its question is open: both texts end up in the editor, and one undo takes the agent\'s out', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(proposal)).drawn();
  await window.press('Control+End'); // the focus is still in the file
  await window.type('# typed while it asks');
  await eventually('the proposal follows', async () => (await dialog.proposedText()).includes('# typed while it asks'));
  await window.screenshot('typing-while-it-asks');
  await dialog.press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  const both = `${edited}# typed while it asks`;
  const text = () => window.text(window.editor('greet.py'));
  await eventually('both are in the editor', async () => await text() === both);
  assert.equal(sandbox.read('greet.py'), greeting, 'what the human has not saved is theirs to save');
  await eventually('the changed line is marked', async () => (await window.marks()).join() === '2 changed');
  await window.focus('greet.py');
  await window.press('Control+z');
  await eventually('one undo takes the agent\'s edit out, and no more', async () => await text() === `${greeting}# typed while it asks`);
  await eventually('its mark is gone', async () => (await window.marks()).length === 0);
  await window.press('Control+y');
  await eventually('a redo brings both back', async () => await text() === both && (await window.marks()).join() === '2 changed');
});

ride('a change is marked, moves with the text, and is taken back after a look; so is the revert', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', { path: 'greet.py', edits: [edit, { old_string: 'print(', new_string: '# says it\nprint(' }].map(({ old_string, new_string }) => ({ old_string, new_string })) });
  await (await window.dialog(proposal)).press('Approve');
  assert.equal((await call).isError, false);
  await eventually('the lines are marked', async () => (await window.marks()).join() === '2 changed,5 added');
  await window.focus('greet.py');
  await window.press('Control+Home');
  await window.type('# mine\n');
  await eventually('the marks move with the text', async () => (await window.marks()).join() === '3 changed,6 added');
  await window.hover('greet.py', 'f"Hello');
  await eventually('the hover says who and what can be done', async () => /scripted-agent changed this[^]*Revert This Change…[^]*Accept in This File/.test(await window.hovered()));
  await window.screenshot('marks');

  await window.page.locator('.monaco-hover a', { hasText: 'Revert This Change…' }).first().click();
  const preview = await (await window.dialog(/now ↔ after the revert/)).drawn('Revert');
  await eventually('it shows what would be', async () => (await preview.proposedText()).includes('"Hello " + name'));
  assert.match(await preview.proposedText(), /^# mine\n/);
  await window.screenshot('revert');
  await preview.press('Revert');
  const mine = `# mine\n${greeting}`;
  const text = () => window.text(window.editor('greet.py'));
  await eventually('the agent\'s lines are back as they were, and mine are still there', async () => await text() === mine);
  await eventually('nothing is marked any more', async () => (await window.marks()).length === 0);
  await eventually('the list says so', async () => (await window.changes()).some((row) => /Edit greet\.py.*reverted/s.test(row)));
  await window.screenshot('reverted');

  await window.page.locator('.notifications-toasts').getByRole('button', { name: 'Take It Back…' }).click();
  await (await (await window.dialog(/now ↔ after the revert/)).drawn('Revert')).press('Revert');
  await eventually('the agent\'s change is there again', async () => (await text()).includes('# says it'));
  assert.match(await text(), /^# mine\n/);

  const again = agent.call('edit_file', { path: 'greet.py', old_string: '# says it', new_string: '# says it aloud' });
  await (await window.dialog(proposal)).press('Approve');
  assert.equal((await again).isError, false);
  await eventually('the line is marked', async () => (await window.marks()).join() === '6 changed');
  await window.focus('greet.py');
  await window.press('Control+s');
  await eventually('a save by hand accepts it', async () => (await window.marks()).length === 0 && sandbox.read('greet.py').includes('# says it aloud'));
});
