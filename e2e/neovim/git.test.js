/** What an agent does to a git repository, as a person is asked about it in a real Neovim. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { branchFacts, commitFacts, committed, committedAsShown, committedWithOwnMessage, files, message, ownMessage, pushFacts, refusedBecause, somethingToCommit, somethingToPush } from '../rig/repository.js';
import { ride, takePictures } from './ride.js';

takePictures();

ride('a commit shows its message, what it holds, as whom, and what runs; approved, it is made', files, async (it) => {
  const { nvim, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message });
  const dialog = await nvim.dialog('commit 3 files to main');
  await dialog.show();
  await nvim.sees(/scripted-agent wants to commit 3 files to main\n\n {2}clock: pad the seconds\n\n {2}The face showed/);
  nvim.screenshot('git-commit');
  for (const fact of [...commitFacts(sandbox), 'ge   Edit Message']) await nvim.sees(fact);
  await dialog.press('approve');
  committedAsShown(sandbox, await call);
});

ride('the user writes the message anew: that is committed, and the agent is told', files, async (it) => {
  const { nvim, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message, files: ['clock.py'] });
  const dialog = await nvim.dialog('commit 1 file to main');
  await dialog.show();
  await nvim.sees('ge edit message');
  await nvim.answers('ge');
  await eventually('the message is open', async () => (await nvim.lua('return vim.bo.filetype')) === 'gitcommit');
  assert.deepEqual(await nvim.lines(), message.split('\n'));
  await nvim.press('ggdG');
  await nvim.sees('edited by you');
  await nvim.answers('ga');
  await eventually('an empty message is no answer', async () => (await nvim.messages()).includes('the message is empty'));
  await nvim.press('i');
  await nvim.type(ownMessage);
  await nvim.press('<Esc>');
  await nvim.sees(/You edited this; the agent gets your text/);
  await nvim.sees(/ {2}clock: two digits/);
  nvim.screenshot('git-commit-message');
  await dialog.press('approve');
  committedWithOwnMessage(sandbox, await call);
});

ride('a commit that misses what is not saved says so; saved first, it holds it', files, async (it) => {
  const { nvim, sandbox } = it;
  somethingToCommit(sandbox);
  await nvim.open('notes.txt');
  await nvim.press('Gosugar<Esc>');
  const agent = await it.agent();
  const call = agent.call('git_commit', { message: 'notes: what goes in', files: ['notes.txt'] });
  const dialog = await nvim.dialog('commit 1 file to main');
  await dialog.show();
  await nvim.sees('Unsaved changes not included  notes.txt');
  await nvim.sees('gw save first');
  nvim.screenshot('git-commit-unsaved');
  await nvim.answers('gw');
  await eventually('it is saved', () => sandbox.read('notes.txt') === 'tea\nmilk\nsugar\n');
  await nvim.sees('+sugar');
  await dialog.press('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.git('show', 'HEAD:notes.txt'), 'tea\nmilk\nsugar\n');
});

ride('branches: made, switched to, and deleted; each says from where to where', files, async (it) => {
  const { nvim, sandbox } = it;
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  sandbox.git('branch', 'old', 'HEAD~1');
  const agent = await it.agent();
  const facts = branchFacts(sandbox);
  const asks = async (/** @type {keyof facts} */ action, /** @type {string} */ name) => {
    const call = agent.call('git_branch', { action, name });
    const dialog = await Promise.race([nvim.dialog(`the branch ${name}`), call.then(({ text }) => { throw new Error(`it did not ask: ${text}`); })]);
    await dialog.show();
    for (const fact of facts[action]) await nvim.sees(fact);
    nvim.screenshot(`git-branch-${action}`);
    return { call, dialog };
  };
  const made = await asks('create', 'pour');
  await made.dialog.press('approve');
  assert.equal((await made.call).isError, false);
  const switched = await asks('switch', 'old');
  await switched.dialog.press('approve');
  assert.equal((await switched.call).structured.current, 'old');
  sandbox.git('switch', '--quiet', 'main');
  const deleted = await asks('delete', 'old');
  await deleted.dialog.answer('reject I still need it');
  refusedBecause(await deleted.call, 'I still need it');
  assert.match(sandbox.git('branch'), /old/);
});

ride('a push shows where to, what is there and what comes; refused with a reason, the agent reads it', files, async (it) => {
  const { nvim, sandbox } = it;
  const { there, before } = somethingToPush(sandbox);
  const agent = await it.agent();
  const first = agent.call('git_push', {});
  const dialog = await nvim.dialog('push main to origin');
  await dialog.show();
  for (const fact of pushFacts(sandbox, before)) await nvim.sees(fact);
  nvim.screenshot('git-push');
  await dialog.answer('reject squash them first');
  refusedBecause(await first, 'squash them first');
  assert.equal(there().slice(0, 7), before);
  const second = agent.call('git_push', {});
  await (await nvim.dialog('push main to origin')).press('approve');
  assert.equal((await second).isError, false);
  assert.equal(there(), sandbox.git('rev-parse', 'HEAD'));
});
