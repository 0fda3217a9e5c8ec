/** An agent's commands and its other tools in a real VS Code; what has little to do with the editor is tried in Neovim. */
import assert from 'node:assert/strict';
import { commandFiles as files } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

const question = 'Run a command?';

shareEditor();

ride('a command asks on a page that shows it whole; approved, it runs', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh count.sh && echo counted' });
  const dialog = await (await window.dialog(question)).drawn();
  await eventually('the page shows the exact command', async () => (await dialog.pageText()).includes('$ sh count.sh && echo counted'));
  assert.match(await dialog.pageText(), /Folder/);
  assert.match(await dialog.pageText(), /Runs/);
  await window.screenshot('command');
  await dialog.press('Approve');
  const { structured } = await call;
  assert.equal(structured.exit_code, 0);
  assert.equal(structured.stdout, '3\ncounted\n');
});

ride('a command that names hosts shows them, and what it may reach', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'cat words.txt', network: ['git.example.org:22', 'Registry.Example.org'] });
  const dialog = await (await window.dialog(question)).drawn();
  const text = await dialog.pageText();
  assert.match(text, /it may reach git\.example\.org:22/);
  assert.match(text, /it may reach registry\.example\.org/);
  assert.match(text, /Network +only git\.example\.org:22, registry\.example\.org/);
  assert.match(text.replace(/\s+/g, ' '), /for this session run_command\(cat words\.txt\), network\(git\.example\.org:22\), network\(registry\.example\.org\)/);
  await window.screenshot('command-hosts');
  await dialog.press('Approve');
  assert.equal((await call).structured.stdout, files['words.txt']);
});

ride('approved for the session: the same command asks no more, another one does, and so does another session', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const first = agent.call('run_command', { command: 'cat words.txt' });
  const dialog = await (await window.dialog(question)).drawn();
  assert.match(await dialog.pageText(), /for this session +run_command\(cat words\.txt\)/);
  await dialog.remember('run_command(cat words.txt)', 'for this session', () => window.screenshot('approve-and-remember'));
  assert.equal((await first).structured.exit_code, 0);
  const again = await agent.call('run_command', { command: 'cat words.txt' });
  assert.equal(again.structured.stdout, files['words.txt']);
  const other = agent.call('run_command', { command: 'rm words.txt' });
  await (await window.dialog(question)).press('Reject');
  assert.equal((await other).isError, true);
  assert.equal(it.sandbox.exists('words.txt'), true);
  const stranger = (await it.agent('another')).call('run_command', { command: 'cat words.txt' });
  await (await window.dialog(question)).press('Reject');
  assert.equal((await stranger).isError, true);
});

ride('edited, or after saving what it misses: what runs is what the user meant', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const first = agent.call('run_command', { command: 'rm words.txt' });
  await (await window.dialog(question)).write('Edit Command…', 'wc -l words.txt');
  const edited = await first;
  assert.equal(edited.structured.stdout, '3 words.txt\n');
  assert.equal(edited.structured.edited_by_human, true);
  assert.equal(sandbox.exists('words.txt'), true);

  const more = agent.call('run_command', { command: 'sh count.sh' });
  await (await window.dialog(question)).write('Edit Command…', 'sh count.sh && touch made');
  const again = await window.dialog(question);
  await eventually('the page says what is new', async () => /touch made[^]*Edited\s+by you[^]*Runs\s+sh count\.sh/.test(await again.pageText()));
  await window.screenshot('command-edited-to-do-more');
  assert.equal(sandbox.exists('made'), false);
  await again.press('Approve');
  assert.equal((await more).structured.edited_by_human, true);
  assert.equal(sandbox.exists('made'), true);

  await window.openFile('words.txt');
  await window.press('Control+End');
  await window.type('delta\n');
  const second = agent.call('run_command', { command: 'sh count.sh' });
  const dialog = await (await window.dialog(question)).drawn();
  assert.match(await dialog.pageText(), /Unsaved changes not included\s+words\.txt/);
  await window.screenshot('save-and-run');
  assert.equal(sandbox.read('words.txt'), files['words.txt']);
  await dialog.press('Save and Run');
  assert.equal((await second).structured.stdout, '4\n');
  assert.equal(sandbox.read('words.txt'), `${files['words.txt']}delta\n`);
});

ride('several commands are answered together, each only as it was read', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const long = `echo ${'long '.repeat(30)}> long.txt`;
  const calls = [agent.call('run_command', { command: 'touch one' })];
  await window.dialog(question);
  calls.push(...['touch two', long].map((command) => agent.call('run_command', { command })));
  await eventually('all three wait', async () => /3 requests are waiting/.test(await window.status()));
  await window.command('Pillion: Answer Together…');
  const list = window.page.locator('.quick-input-widget');
  await list.locator('.monaco-list-row', { hasText: 'run touch two' }).waitFor();
  await window.screenshot('answer-together');
  await window.press('Enter');
  const yes = list.locator('.monaco-list-row', { hasText: 'Approve' });
  await yes.waitFor();
  await window.screenshot('answer-together-how');
  await yes.click();
  await Promise.all(calls.slice(0, 2));
  assert.deepEqual(['one', 'two', 'long.txt'].map((name) => sandbox.exists(name)), [true, true, false]);
  const dialog = await (await window.dialog(question)).drawn();
  await eventually('the one that the list did not show whole is on show', async () => (await dialog.pageText()).includes('long long'));
  await dialog.press('Reject');
  assert.equal((await calls[2]).isError, true);
});

ride('an agent asks the user something', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const call = agent.call('prompt_user', { message: 'Which colour?', actions: ['red', 'blue'] });
  await window.show('Which colour?');
  const blue = window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'blue' });
  await blue.waitFor();
  await window.screenshot('prompt');
  await blue.click();
  assert.equal((await call).structured.action, 'blue');

  const free = agent.call('prompt_user', { message: 'Which colour for the lid?', actions: ['red', 'blue'] });
  await window.show('Which colour for the lid?');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Write an Answer' }).click();
  const input = window.page.locator('.quick-input-widget .quick-input-box input[placeholder="your answer"]');
  await input.waitFor();
  await window.screenshot('prompt-own-words');
  await input.fill('green, as the door');
  await window.press('Enter');
  const answered = await free;
  assert.deepEqual([answered.structured.action, answered.structured.feedback], ['cancel', 'green, as the door']);

  const long = agent.call('prompt_user', { message: `Which shade?\n${'It is for the door. '.repeat(20)}`, actions: ['dark', 'light'] });
  await window.show('Which shade?');
  const page = await window.dialog('scripted-agent asks');
  await eventually('a long question is on a page, whole', async () => /Which shade\?[^]*It is for the door/.test(await page.pageText()));
  await window.screenshot('prompt-long');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'light' }).click();
  assert.equal((await long).structured.action, 'light');
});

ride('an agent\'s words are no link in what pops up, which goes when it is answered elsewhere', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const toast = window.page.locator('.notifications-toasts .notification-list-item', { hasText: 'Look at' });
  const call = agent.call('prompt_user', { message: 'Look at [this](command:workbench.action.showCommands)', actions: ['yes'] });
  await toast.waitFor();
  assert.match(await toast.innerText(), /scripted-agent asks: Look at/);
  assert.deepEqual(await toast.locator('.notification-list-item-message a').allInnerTexts(), ['Answer…']);
  assert.match(await toast.innerText(), /Look at \[this\] \(command:workbench\.action\.showCommands\)/);
  await window.screenshot('prompt-toast');
  await toast.getByText('Answer…').click();
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'yes' }).click();
  assert.equal((await call).structured.action, 'yes');
  await eventually('nothing of it is left', async () => (await toast.count()) === 0);

  const edit = agent.call('write_file', { path: 'words.txt', content: 'other\n' });
  await (await (await window.dialog(/words\.txt.*proposes/)).drawn()).closeTab();
  const told = window.page.locator('.notifications-toasts .notification-list-item');
  assert.equal(await told.count(), 0, 'a request on the screen needs no notification');
  const more = agent.call('write_file', { path: 'words.txt', content: 'more\n' });
  await (await (await window.dialog(/words\.txt.*proposes/)).drawn()).press('Reject');
  await window.show('words.txt');
  await (await window.dialog(/words\.txt.*proposes/)).press('Reject');
  for (const call of [edit, more]) assert.equal((await call).isError, true);
});

ride('an agent in plan mode shows its plan; approved, it may go to work', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  await agent.call('list_files', {}); // it connects with its first call
  await window.command('Pillion: Change an Agent\'s Mode…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'It only reads.' }).click();
  await eventually('the status bar says that it is in plan mode', async () => (await window.page.locator('.part.statusbar').innerText()).includes('is in mode Plan'));
  const refused = await agent.call('run_command', { command: 'touch made-by-agent' });
  assert.equal(refused.structured.error.code, 'POLICY_DENIED');
  const call = agent.call('exit_plan_mode', { plan: '# Plan\n\nThe words are in `words.txt`.\n\n1. Count the words\n2. Write them **down**\n\n```sh\nsh count.sh\n```\n\n- [ ] keep the old file' });
  const dialog = await (await window.dialog('Carry out this plan?')).drawn();
  await eventually('the page shows the plan', async () => (await dialog.pageText()).includes('1. Count the words'));
  assert.match(await dialog.pageText(), /^.* wants to carry out a plan\n/);
  assert.equal(await dialog.button('Approve and Remember…').count(), 0);
  await window.screenshot('plan');
  assert.match(await dialog.pageText(), /\n {2}Plan\n[^]*in words\.txt\.[^]*Write them down\n/);
  await window.click(dialog.button('Edit Plan…'));
  await window.dialog('Your plan');
  await window.page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  await window.press('Control+End');
  await window.type('3. Ask me first\n');
  await eventually('it is saved', async () => !(await window.tabs()).some((label) => label.startsWith('*')));
  await dialog.tab.click();
  await eventually('the page shows the user\'s own plan', async () => /3\. Ask me first[^]*You edited this/.test(await dialog.pageText()));
  await window.screenshot('plan-edited');
  await dialog.press('Approve');
  const { structured } = await call;
  assert.equal(structured.approved, true);
  assert.match(structured.plan, /^# Plan[^]*3\. Ask me first$/);
  const command = agent.call('run_command', { command: 'sh count.sh' });
  await (await window.dialog(question)).press('Approve');
  assert.equal((await command).structured.exit_code, 0);
});

ride('full access needs a second yes, is marked, and ends with the sidecar', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  await agent.call('list_files', {});
  const mode = window.page.locator('.part.statusbar [id*="pillion.mode"]').first();
  await eventually('the status bar shows the mode', async () => /Ask/.test(await mode.innerText()));
  const row = (/** @type {string} */ text) => window.page.locator('.quick-input-widget .monaco-list-row', { hasText: text });
  await mode.click();
  await row('Full Access').click();
  await row('may run any command as me').waitFor();
  await window.screenshot('full-access-asks');
  await window.press('Enter'); // takes the first, which says no
  await eventually('the list is gone', async () => !(await row('may run any command as me').isVisible()));
  assert.match(await mode.innerText(), /Ask/);
  await mode.click();
  await row('Full Access').click();
  await row('may run any command as me').click();
  await eventually('the status bar warns', async () => /Full Access: scripted-agent/.test(await mode.innerText()));
  await window.screenshot('full-access');
  assert.equal((await agent.call('run_command', { command: 'touch unasked' })).structured.exit_code, 0);
  assert.equal(sandbox.exists('unasked'), true);
  const [sidecar] = sandbox.running(/pillion serve/);
  await window.command('Pillion: Restart');
  await eventually('another sidecar runs, and that one alone', () => {
    const running = sandbox.running(/pillion serve/);
    return running.length > 0 && !running.includes(sidecar);
  });
  await window.ready();
  await eventually('the mark is gone', async () => !/Full Access/.test(await window.page.locator('.part.statusbar').innerText()));
  const call = agent.call('run_command', { command: 'touch asked' });
  await (await window.dialog(question)).press('Reject');
  assert.equal((await call).isError, true);
  assert.equal(sandbox.exists('asked'), false);
});
