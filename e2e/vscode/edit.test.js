/** An agent's edit of one file in a real VS Code: what a person answers is what happens to the file. */
import assert from 'node:assert/strict';
import { ride, shareBrowser } from './ride.js';
import { eventually, steadily } from '../rig/expect.js';

const greeting = 'def greet(name):\n    return "Hello " + name\n\n\nprint(greet("you"))\n';
const edit = { path: 'greet.py', old_string: '"Hello " + name', new_string: 'f"Hello, {name}!"' };
const edited = greeting.replace(edit.old_string, edit.new_string);
const proposal = /greet\.py.*proposes/;

shareBrowser();

ride('approved, the file open and clean: the editor and the disk hold the new text', { 'greet.py': greeting }, async (it) => {
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
  assert.deepEqual(await window.tabs(), ['greet.py']);
  assert.match(await window.text(window.editor('greet.py')), /f"Hello, \{name\}!"/);
  await window.screenshot('approved');
});

ride('approved, the file not open: it is written', { 'greet.py': greeting }, async (it) => {
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await (await it.window.dialog(proposal)).press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(it.sandbox.read('greet.py'), edited);
  assert.deepEqual(await it.window.tabs(), []);
});

ride('rejected with a reason: the file is untouched and the agent reads the reason', { 'greet.py': greeting }, async (it) => {
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await it.window.dialog(proposal);
  await dialog.button('Reject with Reason…').waitFor();
  await dialog.rejectWithReason('keep the plus sign');
  const result = await call;
  assert.equal(result.isError, true);
  assert.equal(result.structured.error.code, 'USER_REJECTED');
  assert.match(result.text, /keep the plus sign/);
  assert.equal(it.sandbox.read('greet.py'), greeting);
});

ride('the human edits the proposal: their text lands and the agent is told', { 'greet.py': greeting }, async (it) => {
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

ride('unsaved changes survive: the edit goes into the buffer, and nothing is saved', { 'greet.py': greeting }, async (it) => {
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
  assert.equal(await window.text(window.editor('greet.py')), `${edited}# mine, not saved`);
  assert.deepEqual(await window.tabs(), ['* greet.py']);
  await window.screenshot('unsaved-changes-survive');
});

ride('the file changes elsewhere while the question is open: the dialog follows, and both changes land', { 'greet.py': greeting }, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await window.dialog(proposal);
  sandbox.write('greet.py', `# from outside\n${greeting}`);
  await eventually('the dialog shows the new text', async () => (await dialog.proposedText()).includes('# from outside'));
  await window.screenshot('proposal-followed');
  await dialog.press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('greet.py'), `# from outside\n${edited}`);
});

ride('the very lines change while the question is open: never written on the old yes', { 'greet.py': greeting }, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await window.dialog(proposal);
  const outside = greeting.replace('"Hello " + name', '"Bye " + name');
  sandbox.write('greet.py', outside);
  const result = await call;
  assert.equal(result.isError, true);
  assert.match(result.structured.error.code, /^(CONCURRENT_MODIFICATION|EDIT_NO_MATCH)$/);
  assert.equal(sandbox.read('greet.py'), outside);
  await eventually('the dialog can no longer be approved', async () => !(await dialog.isOpen()));
  const ended = await window.dialog('Closed question');
  await eventually('the page says why', async () => /cannot be done any more/.test(await ended.pageText()));
  await window.screenshot('proposal-overtaken');
});

ride('typing elsewhere while a proposal appears: no key is lost and nothing is approved', { 'greet.py': greeting, 'notes.txt': '' }, async (it) => {
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
  assert.match(await window.status(), /waits/);
  await window.press('Control+s');
  await eventually('what was typed is saved in the file it was typed into', () => sandbox.read('notes.txt') === typed);
  await (await window.dialog(proposal)).press('Reject');
  assert.equal((await call).isError, true);
  assert.equal(sandbox.read('greet.py'), greeting);
});

ride('a press in the very moment in which the question appears is not taken', { 'greet.py': greeting }, async (it) => {
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
