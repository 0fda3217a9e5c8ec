/** An agent's commands and its other tools in a real VS Code. */
import assert from 'node:assert/strict';
import { commandCases, commandFiles as files } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareBrowser } from './ride.js';

const question = 'Run a command?';

shareBrowser();

commandCases(ride, async ({ window }) => {
  await eventually('the view lists the calls', async () => (await window.activity()).length >= 3);
});

ride('a command asks on a page that shows it whole; approved, it runs', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh count.sh && echo counted' });
  const dialog = await (await window.dialog(question)).drawn();
  await eventually('the page shows the exact command', async () => (await dialog.pageText()).includes('$ sh count.sh && echo counted'));
  assert.match(await dialog.pageText(), /Folder/);
  assert.match(await dialog.pageText(), /Why it asks/);
  await window.screenshot('command');
  await dialog.press('Approve');
  const { structured } = await call;
  assert.equal(structured.exit_code, 0);
  assert.equal(structured.stdout, '3\ncounted\n');
});

ride('approved for the session: the same command asks no more, another one does', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const first = agent.call('run_command', { command: 'cat words.txt' });
  const dialog = await window.dialog(question);
  await dialog.button('Approve for Session…').click();
  const choice = window.page.locator('.quick-input-widget .monaco-list-row').first();
  await choice.waitFor();
  await window.screenshot('approve-for-session');
  await eventually('the choice is taken', async () => {
    if (await choice.isVisible()) await choice.click({ timeout: 1000 });
    return !(await dialog.isOpen());
  });
  assert.equal((await first).structured.exit_code, 0);
  const again = await agent.call('run_command', { command: 'cat words.txt' });
  assert.equal(again.structured.stdout, files['words.txt']);
  const other = agent.call('run_command', { command: 'rm words.txt' });
  await (await window.dialog(question)).press('Reject');
  assert.equal((await other).isError, true);
  assert.equal(it.sandbox.exists('words.txt'), true);
});

ride('an agent asks the human something', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const call = agent.call('prompt_user', { message: 'Which colour?', actions: ['red', 'blue'] });
  await window.show('Which colour?');
  const blue = window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'blue' });
  await blue.waitFor();
  await window.screenshot('prompt');
  await blue.click();
  assert.equal((await call).structured.action, 'blue');
});

ride('an agent in plan mode shows its plan; approved, it may go to work', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  await agent.call('list_files', {}); // it connects with its first call
  await window.command('Pillion: Change an Agent\'s Mode…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'It may read and nothing else.' }).click();
  await eventually('the status bar says that it is in plan mode', async () => (await window.page.locator('.part.statusbar').innerText()).includes('is in mode plan'));
  const refused = await agent.call('run_command', { command: 'touch made-by-agent' });
  assert.equal(refused.structured.error.code, 'POLICY_DENIED');
  const call = agent.call('exit_plan_mode', { plan: '# Plan\n1. Count the words\n2. Write them down' });
  const dialog = await (await window.dialog('Carry out this plan?')).drawn();
  await eventually('the page shows the plan', async () => (await dialog.pageText()).includes('1. Count the words'));
  assert.match(await dialog.pageText(), /^.* wants to carry out a plan\n/);
  assert.equal(await dialog.button('Approve for Session…').count(), 0);
  await window.screenshot('plan');
  await dialog.press('Approve');
  assert.equal((await call).structured.approved, true);
  const command = agent.call('run_command', { command: 'sh count.sh' });
  await (await window.dialog(question)).press('Approve');
  assert.equal((await command).structured.exit_code, 0);
});
