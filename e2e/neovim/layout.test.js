/** Requests that float over the user's windows, at the smallest size of a terminal. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { edit, edited, files } from '../rig/greeting.js';
import { eventually } from '../rig/expect.js';

takePictures();

ride('a floating request: announced, opened, left, opened again, approved; then a command takes its place', files, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.open('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await nvim.sees(/wants to edit greet\.py.*\(:Pillion show\)/);
  const windows = () => nvim.lua('return #vim.api.nvim_tabpage_list_wins(0)');
  assert.equal(await windows(), 1);
  await nvim.command('Pillion next');
  await nvim.sees('f"Hello, {name}!"');
  nvim.screenshot('float-diff');
  await nvim.command('set background=light');
  nvim.screenshot('float-diff-light');
  await nvim.press('<C-w>t');
  await eventually('it no longer covers the file', async () => (await windows()) === 1);
  const run = agent.call('run_command', { command: 'python3 greet.py' });
  await eventually('both wait', async () => (await nvim.waits()) === 2);
  const dialog = await nvim.dialog('greet.py');
  await nvim.command('Pillion show');
  await nvim.sees('ga approve');
  await nvim.answers('ga');
  await eventually('the answer is taken', async () => !(await dialog.isOpen()));
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('greet.py'), edited);
  await nvim.sees('$ python3 greet.py');
  nvim.screenshot('float-command-light');
  await nvim.command('set background=dark');
  await nvim.sees('$ python3 greet.py');
  nvim.screenshot('float-command');
  await nvim.press('<C-w>t');
  await nvim.command('Pillion approve'); // from elsewhere it shows the request, and approves nothing
  await nvim.sees('$ python3 greet.py');
  await (await nvim.dialog('python3')).answer('reject');
  assert.equal((await run).isError, true);
  await eventually('only the file is left', async () => (await windows()) === 1);
}, { columns: 80, lines: 24, setup: "require('pillion').setup({ layout = 'float' })\n" });
