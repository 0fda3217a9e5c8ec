/** What an agent does to a git repository, as a person is asked about it in a real VS Code. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { branchFacts, commitFacts, committed, committedAsShown, committedWithOwnMessage, files, message, ownMessage, pushFacts, refusedBecause, somethingToCommit, somethingToPush } from '../rig/repository.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('a commit shows its message, what it holds, as whom, and what runs; approved, it is made', files, async (it) => {
  const { window, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message });
  const dialog = await (await window.dialog('Commit this?')).drawn();
  await eventually('the page shows the commit', async () => (await dialog.pageText()).includes('clock: pad the seconds'));
  await window.screenshot('git-commit');
  const text = await dialog.pageText();
  assert.match(text, /^scripted-agent wants to commit 3 files to main\n\n {2}clock: pad the seconds\n {2}\n {2}The face showed/);
  for (const fact of [...commitFacts(sandbox), /Edit Message…/]) assert.match(text, fact);
  await eventually('the view lists it', async () => (await window.waiting()).some((row) => /Commit clock: pad the seconds/.test(row)));
  await dialog.press('Approve');
  committedAsShown(sandbox, await call);
});

ride('the user writes the message anew: that is committed, and the agent is told', files, async (it) => {
  const { window, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message, files: ['clock.py'] });
  const dialog = await (await window.dialog('Commit this?')).drawn();
  await window.click(dialog.button('Edit Message…'));
  const editor = await (await window.dialog('Commit message')).drawn();
  const own = window.group('Commit message').locator('.editor-instance .monaco-editor').first();
  await eventually('the message is there', async () => (await window.text(own)).startsWith('clock: pad the seconds'));
  await window.focus('Commit message');
  await window.press('Control+A');
  await window.press('Delete');
  await eventually('it is empty', async () => (await window.text(own)) === '');
  await editor.takesAnswers();
  await window.click(editor.button('Approve'));
  await eventually('an empty message is no answer', async () => (await window.notifications()).some((text) => text.includes('is no text')));
  await window.focus('Commit message');
  await window.type(ownMessage);
  await eventually('it is written', async () => (await window.text(own)).endsWith('drinks it.'));
  await window.screenshot('git-commit-message');
  await window.tab('Commit this?').click();
  await eventually('its page has it', async () => (await dialog.pageText()).includes('clock: two digits'));
  assert.match(await dialog.pageText(), /You edited this;/);
  await window.screenshot('git-commit-edited');
  await window.tab('Commit message').click();
  await editor.press('Approve');
  committedWithOwnMessage(sandbox, await call);
  await eventually('nothing of it stays open', async () => (await window.tabs()).length === 0);
});

ride('the agent gives up while the user writes the message: what they wrote stays open', files, async (it) => {
  const { window, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const giveUp = new AbortController();
  const call = agent.call('git_commit', { message, files: ['clock.py'] }, { signal: giveUp.signal });
  const dialog = await (await window.dialog('Commit this?')).drawn();
  await window.click(dialog.button('Edit Message…'));
  await (await window.dialog('Commit message')).drawn();
  const own = window.group('Commit message').locator('.editor-instance .monaco-editor').first();
  await window.focus('Commit message');
  await window.press('Control+Home');
  await window.type('mine: ');
  await eventually('it is written', async () => (await window.text(own)).startsWith('mine: clock: pad the seconds'));
  await eventually('it is taken', async () => (await window.tabs()).includes('Commit message'));
  await window.tab('Commit this?').click();
  await eventually('its page has it', async () => (await dialog.pageText()).includes('mine: clock'));
  giveUp.abort('the agent gave up');
  await assert.rejects(call);
  await eventually('the question is gone', async () => !(await window.tabs()).some((tab) => /Commit (this|message)/.test(tab)));
  const kept = window.group('mine: clock').locator('.editor-instance .monaco-editor').first();
  await eventually('what was written is in front', async () => await window.text(kept) === `mine: ${message}`);
  await eventually('it is said', async () => (await window.notifications()).some((text) => /no longer waits for an answer\. What you wrote is kept/.test(text)));
  await window.screenshot('git-commit-kept');
  assert.equal(sandbox.git('log', '--format=%s').trim(), 'first');
});

ride('a commit that misses what is not saved says so; saved first, it holds it', files, async (it) => {
  const { window, sandbox } = it;
  somethingToCommit(sandbox);
  await window.openFile('notes.txt');
  await window.press('Control+End');
  await window.type('sugar\n');
  const agent = await it.agent();
  await eventually('the agent reads what is typed but not saved', async () =>
    (await agent.call('read_file', { path: 'notes.txt' })).structured.content.endsWith('sugar\n'));
  const call = agent.call('git_commit', { message: 'notes: what goes in', files: ['notes.txt'] });
  const dialog = await (await window.dialog('Commit this?')).drawn();
  await eventually('the page warns', async () => /Unsaved changes not included\s+notes\.txt/.test(await dialog.pageText()));
  const lens = window.group('Commit this?').getByRole('button', { name: 'Save first' });
  await lens.waitFor();
  await window.screenshot('git-commit-unsaved');
  await window.click(lens);
  await eventually('the page shows what was saved', async () => /\+sugar/.test(await dialog.pageText()) && !/Unsaved changes/.test(await dialog.pageText()));
  await dialog.press('Approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.git('show', 'HEAD:notes.txt'), 'tea\nmilk\nsugar\n');
});

ride('branches: made, switched to, and deleted; each says from where to where', files, async (it) => {
  const { window, sandbox } = it;
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  sandbox.git('branch', 'old', 'HEAD~1');
  const agent = await it.agent();
  const facts = branchFacts(sandbox);
  const asks = async (/** @type {keyof facts} */ action, /** @type {string} */ name, /** @type {string} */ tab) => {
    const call = agent.call('git_branch', { action, name });
    const dialog = await Promise.race([window.dialog(tab), call.then(({ text }) => { throw new Error(`it did not ask: ${text}`); })]);
    await dialog.drawn();
    await eventually('the page is there', async () => (await dialog.pageText()).startsWith(`scripted-agent wants to ${action}`));
    const text = await dialog.pageText();
    for (const fact of facts[action]) assert.match(text, fact);
    await window.screenshot(`git-branch-${action}`);
    return { call, dialog };
  };
  const made = await asks('create', 'pour', 'Create a branch?');
  await made.dialog.press('Approve');
  assert.equal((await made.call).isError, false);
  const switched = await asks('switch', 'old', 'Switch branches?');
  await switched.dialog.press('Approve');
  assert.equal((await switched.call).structured.current, 'old');
  sandbox.git('switch', '--quiet', 'main');
  const deleted = await asks('delete', 'old', 'Delete a branch?');
  await deleted.dialog.rejectWithReason('I still need it');
  refusedBecause(await deleted.call, 'I still need it');
  assert.match(sandbox.git('branch'), /old/);
});

ride('a push shows where to, what is there and what comes; refused with a reason, the agent reads it', files, async (it) => {
  const { window, sandbox } = it;
  const { there, before } = somethingToPush(sandbox);
  const agent = await it.agent();
  const asks = async () => {
    const dialog = await (await window.dialog('Push this?')).drawn();
    await eventually('the page is there', async () => (await dialog.pageText()).startsWith('scripted-agent wants to push main to origin'));
    return dialog;
  };
  const first = agent.call('git_push', {});
  const dialog = await asks();
  const text = await dialog.pageText();
  for (const fact of pushFacts(sandbox, before)) assert.match(text, fact);
  await window.screenshot('git-push');
  await dialog.rejectWithReason('squash them first');
  refusedBecause(await first, 'squash them first');
  assert.equal(there().slice(0, 7), before);
  const second = agent.call('git_push', {});
  await (await asks()).press('Approve');
  assert.equal((await second).isError, false);
  assert.equal(there(), sandbox.git('rev-parse', 'HEAD'));
});
