/** An agent's edit of one file in a real VS Code: what a person answers is what happens to the file. */
import assert from 'node:assert/strict';
import { editCases } from '../rig/cases.js';
import { eventually, steadily } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { ride, shareEditor } from './ride.js';

const proposal = /greet\.py.*proposes/;

shareEditor();

editCases(ride, ({ window }) => eventually('nothing is open', async () => (await window.tabs()).length === 0).then(() => undefined));

ride('approved, the file open and clean: the editor and the disk hold the new text', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(proposal)).drawn();
  await eventually('the proposed side is shown', async () => (await dialog.proposedText()).includes('f"Hello, {name}!"'));
  await window.screenshot('proposal');
  assert.equal(sandbox.read('greet.py'), greeting);
  await dialog.press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.saved, true);
  assert.equal(sandbox.read('greet.py'), edited);
  await eventually('nothing else is open', async () => (await window.tabs()).join() === 'greet.py');
  await eventually('the editor shows it', async () => /f"Hello, \{name\}!"/.test(await window.text(window.editor('greet.py'))));
  await window.screenshot('approved');
});

ride('the user edits the proposal: their text lands and the agent is told', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await window.dialog(proposal);
  await dialog.proposal.locator('.view-line', { hasText: 'print' }).click();
  await window.press('Control+End');
  await window.type('# by hand');
  await eventually('the proposal holds what was typed', async () => (await dialog.proposedText()).includes('# by hand'));
  await window.screenshot('proposal-edited');
  await dialog.press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('greet.py'), `${edited}# by hand`);
  assert.match(result.text, /# by hand/);
});

ride('a comment on a line of the proposal: nothing is approved while it is there, and the agent reads it with the rejection', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(proposal)).drawn();
  await dialog.proposal.locator('.view-line', { hasText: 'Hello' }).click();
  await window.command('workbench.action.addComment');
  const box = window.page.locator('.review-widget .comment-form .monaco-editor');
  await box.waitFor();
  await window.type('Say Hi');
  await window.click(window.page.locator('.review-widget').getByRole('button', { name: 'Add Comment' }));
  await eventually('the link says that it goes along', async () => (await dialog.links()).includes('Reject with 1 Comment'));
  await window.screenshot('comment');
  await dialog.takesAnswers();
  await window.click(dialog.link('Approve'));
  await window.page.locator('.notification-list-item', { hasText: 'Your comments go to the agent with a rejection' }).waitFor();
  await dialog.follow('Reject with 1 Comment');
  assert.match((await call).text, /greet\.py:2: Say Hi/);
  assert.equal(sandbox.read('greet.py'), greeting);
});

ride('the agent gives up while the user edits the proposal: what they wrote stays open, and is in no file', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const giveUp = new AbortController();
  const call = agent.call('edit_file', edit, { signal: giveUp.signal });
  const dialog = await (await window.dialog(proposal)).drawn();
  await dialog.proposal.locator('.view-line', { hasText: 'print' }).click();
  await window.press('Control+End');
  await window.type('# by hand');
  await eventually('the view says that it is edited', async () => (await window.waiting()).some((row) => /edited by you/.test(row)));
  await eventually('all of it is there, and saved to memory', async () => (await dialog.proposedText()).endsWith('# by hand') && !(await window.tabs()).some((tab) => tab.startsWith('*')));
  giveUp.abort('the agent gave up');
  await assert.rejects(call);
  await eventually('the question is gone', async () => !(await dialog.isOpen()));
  const kept = window.group('def greet(name):').locator('.editor-instance .monaco-editor').first();
  await eventually('what was written is in front', async () => await window.text(kept) === `${edited}# by hand`);
  assert.equal(sandbox.read('greet.py'), greeting);
});

ride('a text that is written again after somebody put the old one back: the dialog says what it takes back', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  await agent.call('read_file', { path: 'greet.py' });
  const first = agent.call('write_file', { path: 'greet.py', content: edited });
  await (await (await window.dialog(proposal)).drawn()).press('Approve');
  assert.equal((await first).isError, false);
  sandbox.write('greet.py', greeting);
  const again = agent.call('write_file', { path: 'greet.py', content: edited });
  const dialog = await (await window.dialog(proposal)).drawn();
  await eventually('it says why it asks', async () => /it takes back what changed/.test(await dialog.besides()));
  await window.screenshot('taken-back');
  await dialog.press('Approve');
  assert.equal((await again).structured.operation, 'overwrite');
  assert.equal(sandbox.read('greet.py'), edited);
});

ride('unsaved changes survive: the edit goes into the buffer, and nothing is saved', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  await window.press('Control+End');
  await window.type('# mine, not saved');
  const agent = await it.agent();
  await eventually('the agent reads what is typed but not saved', async () => {
    const { structured } = await agent.call('read_file', { path: 'greet.py' });
    return structured.source === 'buffer' && structured.content.endsWith('# mine, not saved');
  });
  const call = agent.call('edit_file', edit);
  await (await window.dialog(proposal)).press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.saved, false);
  assert.equal(sandbox.read('greet.py'), greeting);
  await eventually('the editor shows both', async () => await window.text(window.editor('greet.py')) === `${edited}# mine, not saved`);
  await eventually('it is not saved', async () => (await window.tabs()).join() === '* greet.py');
  await window.screenshot('unsaved-changes-survive');
});

ride('typing elsewhere while a proposal appears: no key is lost and nothing is approved', { ...files, 'notes.txt': '' }, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('notes.txt');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const sentence = 'yes, y and Enter and all that I type here are mine alone';
  let typed = '';
  let seen = 0;
  // Types on until the proposal has been on the screen for a whole sentence.
  for (let line = 1; seen < 2; line++) {
    const text = `${sentence} ${line}`;
    await window.page.keyboard.type(`${text}\n`, { delay: 5 });
    typed += `${text}\n`;
    if ((await window.tab(proposal).count()) > 0) seen++;
  }
  await window.screenshot('typing-while-a-proposal-appears');
  assert.equal(sandbox.read('greet.py'), greeting);
  await eventually('the status bar says that it waits', async () => /waiting/.test(await window.status()));
  await window.press('Control+s');
  await eventually('what was typed is saved in the file it was typed into', () => sandbox.read('notes.txt') === typed);
  await (await window.dialog(proposal)).press('Reject');
  assert.equal((await call).isError, true);
  assert.equal(sandbox.read('greet.py'), greeting);
});

ride('a press in the very moment in which the question appears is not taken', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const pressed = window.page.evaluate(() => new Promise((resolve) => {
    const look = () => {
      const approve = /** @type {HTMLElement | null} */ (document.querySelector('.title .editor-actions [role=button][aria-label^="Approve"]'));
      if (!approve) return false;
      approve.click();
      resolve(true);
      return true;
    };
    const observer = new MutationObserver(() => look() && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true, attributes: true });
  }));
  const call = agent.call('edit_file', edit);
  await pressed;
  const dialog = await window.dialog(proposal);
  await steadily('the question still waits', async () => (await dialog.isOpen()) && sandbox.read('greet.py') === greeting, 1500);
  await dialog.press('Approve');
  assert.equal((await call).isError, false);
});
