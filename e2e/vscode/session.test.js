/** What agents plan and how their sessions stand, in a real VS Code: seen, changed by the user, and heard by the agent. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

const plan = [
  { id: '1', content: 'Read how the words are counted', status: 'completed' },
  { id: '2', content: 'Fix the count of empty lines', status: 'in_progress', priority: 'high' },
  { id: '3', content: 'Write a test for it', status: 'pending' },
  { id: '4', content: 'Tidy up', status: 'pending', priority: 'low' },
];

shareEditor();

/** @param {import('./workbench.js').Workbench} window @param {string[]} list */
const lists = (window, list) => eventually(`the view lists ${list}`, async () => (await window.boxes('To-Dos')).join() === list.join());

/** An item of the status bar. @param {import('./workbench.js').Workbench} window @param {string} item @param {RegExp} what */
const says = (window, item, what) => eventually(`${item} says ${what}`, async () => what.test((await window.page.locator(`.part.statusbar [id*="pillion.${item}"]`).first().innerText()).replaceAll('\u00a0', ' ')));

ride('an agent’s to-do list is on show; the user ticks, adds, moves and removes, and its next result says so', commandFiles, async (it) => {
  const { window } = it;
  const agent = await it.agent('cook');
  await window.openFile('words.txt');
  await agent.call('todo_write', { todos: plan });
  await lists(window, ['☑ Read how the words are counted', '☐ Fix the count of empty lineshigh', '☐ Write a test for it', '☐ Tidy uplow']);
  await says(window, 'todo', /1\/4 · Fix the count of empty lines/);
  await window.tick('Write a test', 'To-Dos');
  await window.command('Pillion: Add To-Do…');
  const input = window.page.locator('.quick-input-widget .quick-input-box input');
  await input.fill('Say it in the README');
  await window.press('Enter');
  await lists(window, ['☑ Read how the words are counted', '☐ Fix the count of empty lineshigh', '☑ Write a test for it', '☐ Tidy uplow', '☐ Say it in the README']);
  await window.rest();
  await window.screenshot('todos');
  const told = (await agent.call('list_files', {})).structured.todos_changed;
  assert.deepEqual(told, ['ticked "Write a test for it"', 'added "Say it in the README"']);

  await window.chooseInView('Say it in the README', 'Move Up', 'To-Dos');
  await lists(window, ['☑ Read how the words are counted', '☐ Fix the count of empty lineshigh', '☑ Write a test for it', '☐ Say it in the README', '☐ Tidy uplow']);
  await window.drag('Say it in the README', 'Fix the count', 'To-Dos');
  await lists(window, ['☑ Read how the words are counted', '☐ Say it in the README', '☐ Fix the count of empty lineshigh', '☑ Write a test for it', '☐ Tidy uplow']);
  await window.drag('Say it in the README', 'Tidy up', 'To-Dos');
  await lists(window, ['☑ Read how the words are counted', '☐ Fix the count of empty lineshigh', '☑ Write a test for it', '☐ Tidy uplow', '☐ Say it in the README']);
  await window.pressInView('Tidy up', 'Remove', 'To-Dos');
  await lists(window, ['☑ Read how the words are counted', '☐ Fix the count of empty lineshigh', '☑ Write a test for it', '☐ Say it in the README']);
  const { structured } = await agent.call('todo_read', {});
  assert.deepEqual(structured.items.map((/** @type {any} */ todo) => todo.content), [...plan.slice(0, 3).map(({ content }) => content), 'Say it in the README']);
  await agent.call('todo_write', { todos: structured.items.map((/** @type {any} */ todo) => ({ ...todo, status: 'completed' })) });
  await eventually('nothing is left to do', async () => (await window.boxes('To-Dos')).every((row) => row.startsWith('☑')));
  await eventually('the status bar has room again', async () => !(await window.page.locator('.part.statusbar [id*="pillion.todo"]').isVisible()));
});

ride('sessions: one is paused and resumed, its mode changed, and it is ended', commandFiles, async (it) => {
  const { window } = it;
  const [agent, other] = [await it.agent('cook'), await it.agent('waiter')];
  await agent.call('todo_write', { todos: plan });
  await other.call('todo_write', { todos: [{ id: '1', content: 'Review what the others did', status: 'in_progress' }] });
  await agent.call('list_files', {});
  const first = agent.call('run_command', { command: 'cat words.txt' });
  await (await window.dialog('Run a command?')).press('Reject');
  assert.equal((await first).isError, true);
  const stands = (/** @type {RegExp} */ what) => eventually(`a row says ${what}`, async () => (await window.sessions()).some((row) => what.test(row.replaceAll(/\s+/g, ' '))));
  await stands(/cook.*Ask · 3 calls, 1 rejected · since \d\d:\d\d/);
  await window.pressInView('cook', 'Pause', 'Sessions');
  await stands(/cook.*paused · Ask/);
  await says(window, 'status', /cook paused/);
  assert.equal((await agent.call('list_files', {})).isError, true);
  await window.rest();
  await window.screenshot('sessions');
  await window.pressInView('cook', 'Resume', 'Sessions');
  await stands(/cook ?Ask · 4 calls, 1 rejected · since/);

  const choice = (/** @type {string} */ text) => window.page.locator('.quick-input-widget .monaco-list-row', { hasText: text });
  await window.pressInView('cook', 'Change Mode…', 'Sessions');
  await choice('Edit Automatically').click();
  await stands(/cook ?Edit Automatically/);
  await window.chooseInView('waiter', 'End…', 'Sessions');
  await choice('Yes, end it').waitFor();
  await window.screenshot('session-ends');
  await choice('Yes, end it').click();
  await eventually('its row is gone', async () => !(await window.sessions()).some((row) => /waiter/.test(row)));
  await agent.close();
  await eventually('the other is kept, out of the way', async () => (await window.sessions()).join().replaceAll(/\s+/g, '') === 'Notconnected1');
  await eventually('and what it left to do is on show', async () => (await window.boxes('To-Dos')).length === 4);
  await window.rest();
  await window.screenshot('sessions-kept');
});

ride('whoever wants it has the tools as an MCP server of VS Code too, which works in this window', commandFiles, async (it) => {
  const { window, sandbox } = it;
  const row = (/** @type {RegExp} */ text) => window.page.locator('.quick-input-widget .monaco-list-row', { hasText: text }).first();
  await window.command('workbench.mcp.listServer');
  await row(/Pillion/).click();
  await row(/Start Server/).click();
  await eventually('VS Code runs it', () => sandbox.running(/pillion mcp$/).length === 1);
  await eventually('it is an agent of this window', async () => (await window.sessions()).length === 1);
  await window.screenshot('mcp-server');
}, { settings: { 'pillion.chat.mcpServer': true } });
