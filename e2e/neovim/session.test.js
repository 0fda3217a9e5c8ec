/** What agents plan and how their sessions stand, in a real Neovim of 80 columns: seen, changed by the user, and heard by the agent. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { ride, takePictures } from './ride.js';

const files = { 'words.txt': 'alpha\nbeta\n' };
const small = { opened: 'words.txt', columns: 80, lines: 24, setup: `vim.o.statusline = "%f %m%=%{v:lua.require'pillion'.statusline()} %l:%c"\nvim.o.laststatus = 3\n` };
const plan = [
  { id: '1', content: 'Read how the words are counted', status: 'completed' },
  { id: '2', content: 'Fix the count of empty lines', status: 'in_progress', priority: 'high' },
  { id: '3', content: 'Write a test for it', status: 'pending' },
  { id: '4', content: 'Tidy up', status: 'pending', priority: 'low' },
];

takePictures();

/** @param {import('./neovim.js').Neovim} nvim @param {string[]} list */
const lists = (nvim, list) => eventually(`the window lists ${list}`, async () => (await nvim.lines()).join('\n') === list.join('\n'));

ride('an agent’s to-do list is on show; the user ticks, adds, moves and removes, and its next result says so', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent('cook');
  await agent.call('todo_write', { todos: plan.slice(0, 3) });
  await eventually('the status line has the item', async () => /Pillion · 1\/3 Fix the count of empty lines/.test(await nvim.status()));
  await nvim.command('Pillion todos');
  await lists(nvim, ['[x] Read how the words are counted', '[>] Fix the count of empty lines · high priority', '[ ] Write a test for it']);
  await agent.call('todo_write', { todos: plan });
  await nvim.sees('[ ] Tidy up · low priority');
  nvim.screenshot('todos');
  await nvim.press('3Gx');
  await nvim.sees('[x] Write a test for it');
  await nvim.press('o');
  await nvim.sees('Add for cook:');
  await nvim.type('Say it in the README\n');
  await nvim.sees('[ ] Say it in the README');
  await eventually('both are kept', () => nvim.lua(`return #require('pillion.sessions').connected()[1].todos == 5`));
  const { structured } = await agent.call('list_files', {});
  assert.deepEqual(structured.todos_changed, ['ticked "Write a test for it"', 'added "Say it in the README"']);
  await nvim.press('GKjdd');
  await lists(nvim, ['[x] Read how the words are counted', '[>] Fix the count of empty lines · high priority', '[x] Write a test for it', '[ ] Say it in the README']);
  await nvim.press('g?');
  await nvim.sees('remove this item');
  nvim.screenshot('todos-keys');
  await nvim.press('q');
  await eventually('the window is closed, with its keys', async () => (await nvim.lua('return #vim.api.nvim_list_wins()')) === 1);
}, small);

ride('sessions: one is paused and resumed, its mode changed, a rule of it taken back, and it is ended', files, async (it) => {
  const { nvim } = it;
  const [agent, other] = [await it.agent('cook'), await it.agent('waiter')];
  await agent.call('todo_write', { todos: plan });
  await other.call('list_files', {});
  const read = { command: 'cat words.txt' };
  const first = agent.call('run_command', read);
  const dialog = await nvim.dialog('cat words.txt');
  await dialog.show();
  await dialog.answerForSession(/run_command\(cat words\.txt\)/);
  assert.equal((await first).isError, false);
  await nvim.command('Pillion sessions');
  await nvim.sees(/^cook {2}asks first\s*\n {2}2 calls · since \d\d:\d\d\s*\n {2}remembers {2}run_command\(cat words\.txt\)/m);
  await nvim.press('ggp');
  await nvim.sees(/^cook {2}paused.* {2}asks first/m);
  assert.equal((await agent.call('list_files', {})).isError, true);
  assert.match(await nvim.status(), /cook paused/);
  nvim.screenshot('sessions');
  await nvim.press('p');
  await nvim.sees(/^cook {2}asks first/m);
  await nvim.press('m');
  await nvim.choose(/auto_edit/);
  await nvim.sees(/^cook {2}edits freely/m);
  await nvim.press('3Gr');
  await nvim.sees('cook asks again for run_command(cat words.txt)');
  const again = agent.call('run_command', read);
  await (await nvim.dialog('cat words.txt')).answer('reject');
  assert.equal((await again).isError, true);
  await nvim.command('Pillion sessions');
  await nvim.sees(/4 calls, 1 rejected/);
  await nvim.press('GX');
  await nvim.sees('End the session of waiter?');
  nvim.screenshot('session-ends');
  await nvim.choose(/Yes, end it/);
  await eventually('its row is gone', async () => !/waiter {2}/.test((await nvim.lines()).join('\n')));
  await agent.close();
  await nvim.sees(/^cook {2}not connected\s*\n {2}4 calls, 1 rejected · last seen/m);
}, small);
