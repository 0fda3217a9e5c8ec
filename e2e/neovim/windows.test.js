/** More than one Neovim, and Neovims that look elsewhere. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { eventually } from '../rig/expect.js';

const files = { 'one.txt': 'first\n', 'two.txt': 'second\n', 'deep/three.txt': 'third\n' };
const edit = { path: 'one.txt', old_string: 'first', new_string: 'FIRST' };

takePictures();

ride('two Neovims on one folder: the one that was focused last is asked', files, async (it) => {
  const left = it.nvim;
  const right = await it.begin();
  for (const [asked, other] of [[left, right], [right, left], [left, right]]) {
    await other.focus(false);
    await asked.focus(true);
    await eventually('the registry knows', () => it.focusedLast(asked));
    const agent = await it.agent();
    const call = agent.call('edit_file', edit);
    const dialog = await asked.dialog('one.txt');
    assert.equal(await other.waits(), 0);
    await dialog.answer('reject');
    assert.equal((await call).isError, true);
  }
});

ride('two Neovims on one file: what lands through one is seen in the other', files, async (it) => {
  const left = it.nvim;
  const right = await it.begin({ opened: 'one.txt' });
  await left.open('one.txt');
  await right.focus(true);
  await eventually('the registry knows', () => it.focusedLast(right));
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await (await right.dialog('one.txt')).answer('approve');
  assert.equal((await call).isError, false);
  assert.deepEqual(await right.lines('one.txt'), ['FIRST']);
  await left.focus(true);
  await eventually('the other Neovim has it', async () => (await left.lines('one.txt')).join() === 'FIRST');
});

ride('two Neovims on one file, unsaved text in the one: it keeps its text, and Neovim itself tells of the other', files, async (it) => {
  const left = it.nvim;
  await left.open('one.txt');
  await left.press('Gomine<Esc>');
  const right = await it.begin();
  await right.focus(true);
  await eventually('the registry knows', () => it.focusedLast(right));
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await (await right.dialog('one.txt')).answer('approve');
  assert.equal((await call).isError, false);
  const focused = left.focus(true);
  await left.sees(/W12: Warning/);
  await left.press('o');
  await focused;
  await left.press('Gotoo<Esc>');
  await eventually('the user types on', async () => (await left.lines('one.txt')).join() === 'first,mine,too');
  assert.equal(it.sandbox.read('one.txt'), 'FIRST\n');
});

ride('the Neovim that was asked ends: the next call goes to the other', files, async (it) => {
  const left = it.nvim;
  const right = await it.begin();
  await right.focus(true);
  await eventually('the registry knows', () => it.focusedLast(right));
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await right.dialog('one.txt');
  await right.command('qall!');
  await right.ended();
  assert.equal((await call).isError, true);
  const again = agent.call('edit_file', edit);
  await (await left.dialog('one.txt')).answer('approve');
  assert.equal((await again).isError, false);
});

ride(':tabnew, :split and :terminal do not start a second sidecar', files, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.command('tabnew deep/three.txt');
  await nvim.command('vsplit two.txt');
  await nvim.command('split | terminal');
  await nvim.press('i');
  await nvim.type('echo $((40 + 2))\n');
  await nvim.sees(/^\s*42\b/m);
  assert.equal(sandbox.running(/pillion serve/).length, 1);
});
