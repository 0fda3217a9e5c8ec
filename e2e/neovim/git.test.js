/** What an agent does to a git repository, as a person is asked about it in a real Neovim. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { committed, files, hook, lastMessage, message, remote, short, somethingToCommit } from '../rig/repository.js';
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
  for (const fact of [
    `Branch        main, now at ${short(sandbox, 'HEAD')}`, 'Author        Rider <rider@example.com>', 'It holds      what changed in tracked files, as nothing is staged: 3 files, +3 −1',
    /Files +M clock\.py \+1 −1\n +M notes\.txt \+1 −0\n +M words\.md/, 'Hooks         pre-commit (.git/hooks/pre-commit)', 'Filters       tr a-z A-Z', 'ge   Edit Message',
  ]) await nvim.sees(fact);
  await dialog.press('approve');
  const { structured } = await call;
  assert.equal(structured.files_changed, 3);
  assert.match(structured.hook_output, /lint: all is well/);
  assert.equal(lastMessage(sandbox), message);
  assert.equal(sandbox.git('show', 'HEAD:words.md'), 'STEEP\nPOUR\n');
});

ride('the human writes the message anew: that is committed, and the agent is told', files, async (it) => {
  const { nvim, sandbox } = it;
  somethingToCommit(sandbox);
  const agent = await it.agent();
  const call = agent.call('git_commit', { message, files: ['clock.py'] });
  const dialog = await nvim.dialog('commit 1 file to main');
  await dialog.show();
  await nvim.sees('ge message');
  await eventually('the message is open', async () => {
    await nvim.press('ge'); // within half a second of the question it is not taken
    return (await nvim.lua('return vim.bo.filetype')) === 'gitcommit';
  });
  assert.deepEqual(await nvim.lines(), message.split('\n'));
  await nvim.press('ggdG');
  await nvim.sees('edited by you');
  await eventually('an empty message is no answer', async () => {
    await nvim.press('ga');
    return (await nvim.messages()).includes('the message is empty');
  });
  await nvim.press('i');
  await nvim.type('clock: two digits\n\nSaid by the one who drinks it.');
  await nvim.press('<Esc>');
  await nvim.sees(/You wrote this message; the agent is told/);
  await nvim.sees(/ {2}clock: two digits/);
  nvim.screenshot('git-commit-message');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.structured.edited_by_human, true);
  assert.match(result.text, /human changed.*clock: two digits/s);
  assert.equal(lastMessage(sandbox), 'clock: two digits\n\nSaid by the one who drinks it.');
  assert.equal(sandbox.git('status', '--short'), ' M notes.txt\n M words.md\n');
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
  await nvim.sees('It misses     what you have not saved in notes.txt');
  await nvim.sees('gw save first');
  nvim.screenshot('git-commit-unsaved');
  await eventually('it is saved', async () => {
    await nvim.press('gw');
    return sandbox.read('notes.txt') === 'tea\nmilk\nsugar\n';
  });
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
  const head = short(sandbox, 'HEAD');
  const old = short(sandbox, 'old');
  const asks = async (/** @type {string} */ action, /** @type {string} */ name, /** @type {(string | RegExp)[]} */ facts) => {
    const call = agent.call('git_branch', { action, name });
    const dialog = await Promise.race([nvim.dialog(`the branch ${name}`), call.then(({ text }) => { throw new Error(`it did not ask: ${text}`); })]);
    await dialog.show();
    for (const fact of facts) await nvim.sees(fact);
    nvim.screenshot(`git-branch-${action}`);
    return { call, dialog };
  };
  const made = await asks('create', 'pour', ['wants to create the branch pour', `Branch        pour, at ${head}`, 'Checked out   main, as before']);
  await made.dialog.press('approve');
  assert.equal((await made.call).isError, false);
  const switched = await asks('switch', 'old', ['wants to switch to the branch old', `From          main, at ${head}`, `To            old, at ${old}`, 'M notes.txt +0 −1']);
  await switched.dialog.press('approve');
  assert.equal((await switched.call).structured.current, 'old');
  sandbox.git('switch', '--quiet', 'main');
  const deleted = await asks('delete', 'old', ['wants to delete the branch old', `Branch        old, at ${old}`, 'Nothing lost  all of it is in HEAD']);
  await deleted.dialog.answer('reject I still need it');
  const refused = await deleted.call;
  assert.equal(refused.structured.error.code, 'USER_REJECTED');
  assert.match(refused.text, /I still need it/);
  assert.match(sandbox.git('branch'), /old/);
});

ride('a push shows where to, what is there and what comes; refused with a reason, the agent reads it', files, async (it) => {
  const { nvim, sandbox } = it;
  const there = remote(sandbox);
  const before = short(sandbox, 'HEAD');
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  committed(sandbox, 'notes: sugar', 'tea\nmilk\nsugar\n');
  hook(sandbox, 'pre-push', 'cat >/dev/null; echo "checked"');
  const agent = await it.agent();
  const first = agent.call('git_push', {});
  const dialog = await nvim.dialog('push main to origin');
  await dialog.show();
  for (const fact of [
    'scripted-agent wants to push main to origin', /Remote +origin, .*kettle\.git/, `There now     ${before}`, `Afterwards    ${short(sandbox, 'HEAD')}`,
    new RegExp(`New there +2 commits\n +${short(sandbox, 'HEAD')} notes: sugar\n +${short(sandbox, 'HEAD~1')} notes: milk`), /Hooks +pre-push/,
  ]) await nvim.sees(fact);
  nvim.screenshot('git-push');
  await dialog.answer('reject squash them first');
  const refused = await first;
  assert.equal(refused.structured.error.code, 'USER_REJECTED');
  assert.match(refused.text, /squash them first/);
  assert.equal(there('rev-parse', 'main').slice(0, 7), before);
  const second = agent.call('git_push', {});
  await (await nvim.dialog('push main to origin')).press('approve');
  assert.equal((await second).isError, false);
  assert.equal(there('rev-parse', 'main'), sandbox.git('rev-parse', 'HEAD'));
});
