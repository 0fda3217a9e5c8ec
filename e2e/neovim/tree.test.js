/** Files and folders as a whole in a real Neovim: deleted, moved and made by an agent, and had back. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting, lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';

takePictures();

/** Reverts the last change, after a look. @param {import('./ride.js').Ride} it @param {string} what is on the page */
async function revertLast({ nvim }, what) {
  await nvim.command('Pillion revert');
  await nvim.revert(what);
}

ride('a file is deleted after a look at its text, and had back', { ...files, 'old.py': 'print("old")\n' }, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('delete_file', { path: 'old.py' });
  const dialog = await nvim.dialog('delete old.py');
  await dialog.show();
  await nvim.sees('print("old")');
  nvim.screenshot('delete');
  await dialog.press('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.exists('old.py'), false);
  await revertLast(it, 'old.py');
  await eventually('it is back', () => sandbox.exists('old.py') && sandbox.read('old.py') === 'print("old")\n');
}, { opened: 'greet.py' });

ride('a folder is deleted after a look at all that goes with it, and had back', { ...files, 'lib/a.py': 'a\n', 'lib/b/c.py': 'c\n' }, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('delete_file', { path: 'lib', recursive: true });
  const dialog = await nvim.dialog('delete the folder lib');
  await dialog.show();
  await nvim.sees(/Contents +2 files/);
  await nvim.sees('lib/b/c.py');
  nvim.screenshot('delete-folder');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.exists('lib'), false);
  await revertLast(it, 'lib');
  await eventually('all of it is back', () => sandbox.exists('lib/b/c.py') && sandbox.read('lib/a.py') === 'a\n' && sandbox.read('lib/b/c.py') === 'c\n');
}, { opened: 'greet.py' });

ride('a moved file takes its buffer along, and back when that is reverted', files, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('2G');
  const agent = await it.agent();
  const call = agent.call('move_file', { from: 'greet.py', to: 'src/hello.py' });
  const dialog = await nvim.dialog('move greet.py to src/hello.py');
  await dialog.show();
  nvim.screenshot('move');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  await eventually('the buffer has the new name', async () => (await nvim.file()) === 'src/hello.py');
  assert.deepEqual(await nvim.cursor(), { file: 'src/hello.py', line: 2, column: 0 });
  await nvim.press('Go# mine<Esc>');
  await nvim.command('write');
  await eventually('it is written without a question', () => sandbox.read('src/hello.py') === `${greeting}# mine\n`);
  assert.equal(sandbox.exists('greet.py'), false);
  await eventually('the agent reads the buffer under its new name', async () => (await agent.call('read_file', { path: 'src/hello.py' })).structured.source === 'buffer');
  await revertLast(it, 'greet.py');
  await eventually('the buffer has its old name, and the user’s line', async () =>
    (await nvim.file()) === 'greet.py' && sandbox.read('greet.py') === `${greeting}# mine\n`);
}, { opened: 'greet.py' });

ride('a moved file with unsaved changes: they stay in its buffer, and are told of', files, async (it) => {
  const { nvim } = it;
  await nvim.press('Go# mine<Esc>');
  const agent = await it.agent();
  const call = agent.call('move_file', { from: 'greet.py', to: 'hello.py' });
  await (await nvim.dialog('move greet.py')).answer('approve');
  const result = await call;
  assert.deepEqual((await nvim.lines('greet.py')).at(-1), '# mine', result.text);
  assert.equal(await nvim.modified('greet.py'), true);
  if (!result.isError) await nvim.sees('your unsaved changes stay');
}, { opened: 'greet.py' });

ride('a folder is made after a look', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('create_directory', { path: 'src/new' });
  const dialog = await nvim.dialog('create the folder src/new');
  await dialog.show();
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.exists('src/new'), true);
}, { opened: 'greet.py' });

ride('a proposal that is merged with what was written since is shown as one', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await agent.call('read_file', { path: 'greet.py' });
  await nvim.press('Go# mine<Esc>');
  await nvim.command('write');
  const call = agent.call('write_file', { path: 'greet.py', content: edited });
  const dialog = await nvim.dialog('greet.py');
  await dialog.show();
  await nvim.sees(/ merged(;.*)? {2}ga/); // "updated" too, where the editor says only now that it has saved
  assert.deepEqual(await dialog.proposedText(), lines(`${edited}# mine\n`));
  nvim.screenshot('merged');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.structured.merged, true, result.text);
  assert.equal(sandbox.read('greet.py'), `${edited}# mine\n`);
}, { opened: 'greet.py' });
