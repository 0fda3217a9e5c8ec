/** What an agent does to a git repository, as a person is asked about it in a real VS Code. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { committed, files, hook, lastMessage, message, remote, short, somethingToCommit } from '../rig/repository.js';
import { ride, shareBrowser } from './ride.js';

shareBrowser();

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
  for (const fact of [
    new RegExp(`Branch +main, now at ${short(sandbox, 'HEAD')}`), /Author +Rider <rider@example\.com>/, /It holds +what changed in tracked files, as nothing is staged: 3 files, \+3 −1/,
    /Files +M clock\.py \+1 −1\n +M notes\.txt \+1 −0\n +M words\.md/, /Hooks +pre-commit \(\.git\/hooks\/pre-commit\)/, /Filters +tr a-z A-Z/, /Edit Message…/,
  ]) assert.match(text, fact);
  assert.match((await window.waiting()).join('\n'), /Commit clock: pad the seconds/);
  await dialog.press('Approve');
  const { structured } = await call;
  assert.equal(structured.files_changed, 3);
  assert.match(structured.hook_output, /lint: all is well/);
  assert.equal(lastMessage(sandbox), message);
  assert.equal(sandbox.git('show', 'HEAD:words.md'), 'STEEP\nPOUR\n');
});

ride('the human writes the message anew: that is committed, and the agent is told', files, async (it) => {
  const { window, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message, files: ['clock.py'] });
  const dialog = await (await window.dialog('Commit this?')).drawn();
  await dialog.button('Edit Message…').click();
  const editor = await (await window.dialog('Commit message')).drawn();
  const own = window.group('Commit message').locator('.editor-instance .monaco-editor').first();
  await eventually('the message is there', async () => (await window.text(own)).startsWith('clock: pad the seconds'));
  await eventually('it is empty', async () => {
    await own.locator('.view-line').first().click();
    await window.press('Control+A');
    await window.press('Delete');
    return (await window.text(own)) === '';
  });
  await eventually('an empty message is no answer', async () => {
    await editor.button('Approve').click();
    return (await window.notifications()).some((text) => text.includes('the message is empty'));
  });
  await own.locator('.view-line').first().click();
  await window.type('clock: two digits\n\nSaid by the one who drinks it.');
  await eventually('it is written', async () => (await window.text(own)).endsWith('drinks it.'));
  await window.screenshot('git-commit-message');
  await window.tab('Commit this?').click();
  await eventually('its page has it', async () => (await dialog.pageText()).includes('clock: two digits'));
  assert.match(await dialog.pageText(), /You wrote this message/);
  await window.screenshot('git-commit-edited');
  await window.tab('Commit message').click();
  await editor.press('Approve');
  const result = await call;
  assert.equal(result.structured.edited_by_human, true);
  assert.match(result.text, /human changed.*clock: two digits/s);
  assert.equal(lastMessage(sandbox), 'clock: two digits\n\nSaid by the one who drinks it.');
  assert.equal(sandbox.git('status', '--short'), ' M notes.txt\n M words.md\n');
  await eventually('nothing of it stays open', async () => (await window.tabs()).length === 0);
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
  await eventually('the page warns', async () => /It misses +what you have not saved in notes\.txt/.test(await dialog.pageText()));
  const lens = window.group('Commit this?').getByRole('button', { name: 'Save first' });
  await lens.waitFor();
  await window.screenshot('git-commit-unsaved');
  await lens.click();
  await eventually('the page shows what was saved', async () => /\+sugar/.test(await dialog.pageText()) && !/It misses/.test(await dialog.pageText()));
  await dialog.press('Approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.git('show', 'HEAD:notes.txt'), 'tea\nmilk\nsugar\n');
});

ride('branches: made, switched to, and deleted; each says from where to where', files, async (it) => {
  const { window, sandbox } = it;
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  sandbox.git('branch', 'old', 'HEAD~1');
  const agent = await it.agent();
  const head = short(sandbox, 'HEAD');
  const old = short(sandbox, 'old');
  const asks = async (/** @type {string} */ action, /** @type {string} */ name, /** @type {string} */ tab, /** @type {RegExp[]} */ facts) => {
    const call = agent.call('git_branch', { action, name });
    const dialog = await Promise.race([window.dialog(tab), call.then(({ text }) => { throw new Error(`it did not ask: ${text}`); })]);
    await dialog.drawn();
    await eventually('the page is there', async () => (await dialog.pageText()).startsWith(`scripted-agent wants to ${action}`));
    const text = await dialog.pageText();
    for (const fact of facts) assert.match(text, fact);
    await window.screenshot(`git-branch-${action}`);
    return { call, dialog };
  };
  const made = await asks('create', 'pour', 'Create a branch?', [/create the branch pour/, new RegExp(`Branch +pour, at ${head}`), /Checked out +main, as before/]);
  await made.dialog.press('Approve');
  assert.equal((await made.call).isError, false);
  const switched = await asks('switch', 'old', 'Switch branches?', [new RegExp(`From +main, at ${head}`), new RegExp(`To +old, at ${old}`), /Files +M notes\.txt \+0 −1/]);
  await switched.dialog.press('Approve');
  assert.equal((await switched.call).structured.current, 'old');
  sandbox.git('switch', '--quiet', 'main');
  const deleted = await asks('delete', 'old', 'Delete a branch?', [new RegExp(`Branch +old, at ${old}`), /Nothing lost +all of it is in HEAD/]);
  await deleted.dialog.rejectWithReason('I still need it');
  const refused = await deleted.call;
  assert.equal(refused.structured.error.code, 'USER_REJECTED');
  assert.match(refused.text, /I still need it/);
  assert.match(sandbox.git('branch'), /old/);
});

ride('a push shows where to, what is there and what comes; refused with a reason, the agent reads it', files, async (it) => {
  const { window, sandbox } = it;
  const there = remote(sandbox);
  const before = short(sandbox, 'HEAD');
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  committed(sandbox, 'notes: sugar', 'tea\nmilk\nsugar\n');
  hook(sandbox, 'pre-push', 'cat >/dev/null; echo "checked"');
  const agent = await it.agent();
  const asks = async () => {
    const dialog = await (await window.dialog('Push this?')).drawn();
    await eventually('the page is there', async () => (await dialog.pageText()).startsWith('scripted-agent wants to push main to origin'));
    return dialog;
  };
  const first = agent.call('git_push', {});
  const dialog = await asks();
  const text = await dialog.pageText();
  for (const fact of [
    /Remote +origin, .*kettle\.git/, new RegExp(`There now +${before}`), new RegExp(`Afterwards +${short(sandbox, 'HEAD')}`),
    new RegExp(`New there +2 commits\n +${short(sandbox, 'HEAD')} notes: sugar\n +${short(sandbox, 'HEAD~1')} notes: milk`), /Hooks +pre-push/,
  ]) assert.match(text, fact);
  await window.screenshot('git-push');
  await dialog.rejectWithReason('squash them first');
  const refused = await first;
  assert.equal(refused.structured.error.code, 'USER_REJECTED');
  assert.match(refused.text, /squash them first/);
  assert.equal(there('rev-parse', 'main').slice(0, 7), before);
  const second = agent.call('git_push', {});
  await (await asks()).press('Approve');
  assert.equal((await second).isError, false);
  assert.equal(there('rev-parse', 'main'), sandbox.git('rev-parse', 'HEAD'));
});
