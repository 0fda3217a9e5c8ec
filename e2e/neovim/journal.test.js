/** What agents changed, as a person sees it in a real Neovim, and has it back. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting, lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';

/** Edits need no asking: what is tried here comes after them. */
const automatic = { setup: `require('pillion').setup({ settings = { mode = 'auto_edit' } })\nvim.o.signcolumn = 'yes'\n` };

takePictures();

/** Which lines have a sign of ours, from 1. @param {import('./neovim.js').Neovim} nvim @returns {Promise<number[]>} */
async function marked(nvim) {
  return nvim.lua(`local found = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('pillion.marks'), 0, -1, { details = true })) do
      if mark[4].sign_text and not mark[4].invalid then found[#found + 1] = mark[2] + 1 end
    end
    return found`);
}

ride('an agent’s edit is marked, listed and reverted after a look; and the revert is reverted', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', edit)).isError, false);
  await nvim.sees(/▌\s+return f"Hello/);
  assert.deepEqual(await marked(nvim), [2]);
  await nvim.press('2G');
  await nvim.command('Pillion who');
  await nvim.sees(/scripted-agent changed this line at \d\d:\d\d/);
  nvim.screenshot('marks');
  await nvim.command('Pillion journal');
  await nvim.sees(/\d\d:\d\d\s+.*greet\.py\s+\+1 −1/);
  nvim.screenshot('journal');
  await nvim.press('gu');
  await nvim.sees('Leave it');
  await nvim.sees(/\+ {4}return "Hello " \+ name/);
  nvim.screenshot('revert');
  assert.equal(sandbox.read('greet.py'), edited, 'nothing is done yet');
  await nvim.revert('Revert “Edit greet.py” by scripted-agent?');
  await nvim.sees('1 file reverted');
  assert.equal(sandbox.read('greet.py'), greeting);
  assert.deepEqual(await nvim.lines('greet.py'), lines(greeting));
  assert.equal(await nvim.modified('greet.py'), false);
  await nvim.sees(/\+1 −1\s+reverted/);
  await nvim.press('gggu');
  await nvim.revert(/Revert “Revert greet\.py” by you\?/);
  await eventually('the agent’s text is back', () => sandbox.read('greet.py') === edited);
  assert.deepEqual(await nvim.lines('greet.py'), lines(edited));
}, { ...automatic, opened: 'greet.py' });

ride('each turn has the name of its prompt; the files go back to before one, with all later ones', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent('claude-code');
  await agent.tools(); // as at the start of its program
  for (const [prompt, content] of [['Say less', 'print("hi")\n'], ['No, say\nmore', 'print("good day")\n'], ['And shout', 'print("GOOD DAY")\n']]) {
    agent.prompted(prompt);
    assert.equal((await agent.call('write_file', { path: 'greet.py', content })).isError, false);
  }
  await nvim.command('Pillion journal');
  await nvim.sees(/Claude Code · turn 3 · And shout[^]*Claude Code · turn 2 · No, say more[^]*Claude Code · turn 1 · Say less/);
  nvim.screenshot('turns');
  await nvim.press('3GgB');
  await nvim.sees('Leave it');
  nvim.screenshot('restore-to-here');
  await nvim.revert('Revert everything that Claude Code changed from turn 2 on (“No, say more”)?');
  await nvim.sees('1 file reverted');
  assert.equal(sandbox.read('greet.py'), 'print("hi")\n');
}, { ...automatic, opened: 'greet.py' });

ride('what the user wrote since stays, merged, and one u takes the revert back', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', edit)).isError, false);
  await nvim.press('Go# mine, not saved<Esc>');
  await nvim.command('Pillion revert');
  await nvim.sees('Later changes are kept  greet.py');
  nvim.screenshot('revert-merged');
  await nvim.revert('greet.py');
  await nvim.sees('1 file merged');
  assert.deepEqual(await nvim.lines('greet.py'), lines(`${greeting}# mine, not saved\n`));
  assert.equal(await nvim.modified('greet.py'), true);
  assert.equal(sandbox.read('greet.py'), edited, 'what is not saved is theirs to save');
  await nvim.press('u');
  await eventually('the revert is undone, the user’s line is there', async () => (await nvim.lines('greet.py')).join('\n') === lines(`${edited}# mine, not saved\n`).join('\n'));
}, { ...automatic, opened: 'greet.py' });

ride('the marks go when the user saves', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', edit)).isError, false);
  await eventually('the line is marked', async () => (await marked(nvim)).join() === '2');
  await nvim.press('Go# mine<Esc>');
  await nvim.command('write');
  await eventually('nothing is marked', async () => (await marked(nvim)).length === 0);
}, { ...automatic, opened: 'greet.py' });

ride('typed while the question waits: both texts are in the buffer, and one u takes out the agent’s alone', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await nvim.dialog('greet.py');
  await nvim.press('Go# mine<Esc>');
  await dialog.changes();
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.deepEqual(await nvim.lines('greet.py'), lines(`${edited}# mine\n`));
  await eventually('the agent’s line is marked, the user’s is not', async () => (await marked(nvim)).join() === '2');
  await nvim.press('u');
  await eventually('the agent’s text is out, the user’s is in', async () => (await nvim.lines('greet.py')).join('\n') === lines(`${greeting}# mine\n`).join('\n'));
  await eventually('and its mark is gone', async () => (await marked(nvim)).length === 0);
}, { setup: `vim.o.signcolumn = 'yes'\n`, opened: 'greet.py' });

ride('what is written outside comes into a clean buffer by itself, and not over what is unsaved', { ...files, 'other.py': 'old\n' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.open('other.py');
  await nvim.press('Gomine<Esc>');
  sandbox.write('other.py', 'new\n');
  sandbox.write('greet.py', edited);
  await eventually('the clean buffer is read anew', async () => (await nvim.lines('greet.py')).join('\n') === lines(edited).join('\n'));
  assert.deepEqual(await nvim.lines('other.py'), ['old', 'mine']);
  assert.equal((await nvim.mode()).blocking, false);
}, { opened: 'greet.py' });

ride('a file that an agent writes while no buffer has it is marked when it is opened', { ...files, 'other.py': 'one\ntwo\nthree\n' }, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', { path: 'other.py', old_string: 'two\n', new_string: 'two\nand a half\n' })).isError, false);
  await eventually('it is known', () => nvim.lua(`return require('pillion.marks').count() == 1`));
  await nvim.open('other.py');
  await nvim.sees(/▌\s+and a half/);
  assert.deepEqual(await marked(nvim), [3]);
  await nvim.command('Pillion accept');
  await eventually('nothing is marked', async () => (await marked(nvim)).length === 0);
}, { ...automatic, opened: 'greet.py' });
