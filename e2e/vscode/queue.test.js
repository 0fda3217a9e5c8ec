/** Several questions, and questions that nobody answers: the queue, closed tabs and windows, agents that are interrupted. */
import assert from 'node:assert/strict';
import { ride, shareEditor } from './ride.js';
import { eventually, steadily } from '../rig/expect.js';
import { grace } from './code-server.js';

const files = { 'one.txt': 'first\n', 'two.txt': 'second\n' };
const editOne = { path: 'one.txt', old_string: 'first', new_string: 'FIRST' };
const editTwo = { path: 'two.txt', old_string: 'second', new_string: 'SECOND' };

shareEditor();

ride('two calls at once: both wait in the view, each is answered by itself', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const first = agent.call('edit_file', editOne);
  await window.dialog(/one\.txt.*proposes/);
  const second = agent.call('edit_file', editTwo);
  await eventually('both wait', async () => /2 requests are waiting/.test(await window.status()));
  await eventually('the view lists both', async () => /one\.txt[^]*two\.txt/.test((await window.waiting()).join('\n')));
  await window.screenshot('two-wait');
  await (await window.dialog(/one\.txt.*proposes/)).press('Reject');
  await (await window.dialog(/two\.txt.*proposes/)).press('Approve');
  assert.equal((await first).isError, true);
  assert.equal((await second).isError, false);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  assert.equal(sandbox.read('two.txt'), 'SECOND\n');
  await window.ready();
});

ride('two agents at once: each is told its own answer', files, async (it) => {
  const { window, sandbox } = it;
  const red = await it.agent('red');
  const blue = await it.agent('blue');
  const first = red.call('edit_file', editOne);
  await window.dialog(/one\.txt.*red proposes/);
  const second = blue.call('edit_file', editTwo);
  await eventually('both wait', async () => /2 requests are waiting/.test(await window.status()));
  await window.show('two.txt');
  await (await window.dialog(/two\.txt.*blue proposes/)).press('Approve');
  assert.equal((await second).isError, false);
  assert.equal(sandbox.read('two.txt'), 'SECOND\n');
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await window.show('one.txt');
  await (await window.dialog(/one\.txt.*red proposes/)).press('Approve');
  assert.equal((await first).isError, false);
});

ride('an answer by key leaves the focus in an editor, and the oldest request comes to the front', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const write = (/** @type {string} */ path) => agent.call('write_file', { path, content: 'NEW\n' });
  const calls = [write('one.txt')];
  await window.dialog(/one\.txt.*proposes/);
  calls.push(write('two.txt'), write('new.txt'));
  await eventually('all wait', async () => /3 requests are waiting/.test(await window.status()));
  for (const name of ['two.txt', 'new.txt']) {
    await window.show(name);
    await window.dialog(new RegExp(`${name}.*proposes`));
  }
  await (await window.dialog(/new\.txt.*proposes/)).press('Reject');
  for (const name of ['one.txt', 'two.txt']) {
    const dialog = await window.dialog(new RegExp(`${name}.*proposes`));
    await dialog.enter();
    await dialog.approveByKey();
  }
  assert.deepEqual((await Promise.all(calls)).map(({ isError }) => isError), [false, false, true]);
  await window.hasFocus();
});

ride('answered by key, a request that was shown from the terminal leaves the focus where keys go on', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  await window.command('workbench.action.terminal.new');
  const terminal = window.page.locator('.terminal-wrapper.active .xterm.focus');
  await terminal.waitFor();
  const call = agent.call('edit_file', editOne);
  const dialog = await (await window.dialog(/one\.txt.*proposes/)).drawn();
  await window.page.locator('.terminal-wrapper.active .xterm-screen').click();
  await terminal.waitFor();
  await window.show('one.txt');
  await dialog.approveByKey();
  assert.equal((await call).isError, false);
  await window.screenshot('focus-after-key');
  await terminal.waitFor();
  await window.type('exit\n');
  await terminal.waitFor({ state: 'detached' });
});

ride('the tab is closed: that is no answer, the call waits and can be shown again', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  const dialog = await window.dialog(/one\.txt.*proposes/);
  await dialog.closeTab();
  await steadily('it still waits', async () => /waiting/.test(await window.status()) && !(await dialog.isOpen()), 1500);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await window.command('Pillion: Approve');
  await eventually('nobody answers what is not in front', async () => /first request that waits/.test((await window.notifications()).join('\n')));
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await (await window.dialog(/one\.txt.*proposes/)).press('Approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('one.txt'), 'FIRST\n');
  await window.command('Pillion: Approve');
  await eventually('nothing waits any more', async () => /No request is waiting/.test((await window.notifications()).join('\n')));
});

ride('interrupted in the agent: the closed request says so, and the next one takes its place with the focus', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const interrupt = new AbortController();
  const call = agent.call('edit_file', editOne, { signal: interrupt.signal });
  const dialog = await (await window.dialog(/one\.txt.*proposes/)).drawn();
  await dialog.enter();
  interrupt.abort('interrupted by the user');
  await assert.rejects(call);
  await eventually('the question is gone', async () => !(await dialog.isOpen()));
  const ended = await window.dialog('Closed request');
  await eventually('the page says why', async () => /^The agent no longer waits for an answer\n/.test(await ended.pageText()));
  assert.equal(await ended.button('Approve').count(), 0);
  await window.screenshot('agent-interrupted');
  await eventually('so does the activity', async () => (await window.activity()).some((row) => /the agent cancelled the call/.test(row)));
  await window.ready();
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await window.page.locator('.editor-group-container .view-line').first().click();
  const again = agent.call('edit_file', editOne);
  await (await (await window.dialog(/one\.txt.*proposes/)).drawn()).approveByKey();
  assert.equal((await again).isError, false);
  await eventually('nothing is open', async () => (await window.tabs()).length === 0);
});

ride('interrupted from the terminal: keys go on to the terminal, also when the next request comes, and one key leads to it', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  await window.command('workbench.action.terminal.new');
  const terminal = window.page.locator('.terminal-wrapper.active .xterm.focus');
  await terminal.waitFor();
  const interrupt = new AbortController();
  const call = agent.call('edit_file', editOne, { signal: interrupt.signal });
  await (await window.dialog(/one\.txt.*proposes/)).drawn();
  await window.page.locator('.terminal-wrapper.active .xterm-screen').click();
  await terminal.waitFor();
  await window.type('echo a');
  interrupt.abort('interrupted by the user');
  await assert.rejects(call);
  await window.dialog('Closed request');
  await window.type('b');
  const again = agent.call('edit_file', editOne);
  const dialog = await (await window.dialog(/one\.txt.*proposes/)).drawn();
  await window.type('c');
  await eventually('the terminal has every key', async () => /echo abc/.test(await window.terminal()));
  await window.screenshot('request-beside-terminal');
  await window.chord('a');
  await dialog.approveByKey();
  assert.equal((await again).isError, false);
  await terminal.waitFor();
  await window.press('Control+c');
  await window.type('exit\n');
  await terminal.waitFor({ state: 'detached' });
});

ride('one after the other by key: each request has the focus, until the user types elsewhere', { ...files, 'notes.txt': '' }, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const ask = async (/** @type {string} */ content) => {
    const call = agent.call('write_file', { path: 'one.txt', content });
    return { call, dialog: await (await window.dialog(/one\.txt.*proposes/)).drawn() };
  };
  const one = await ask('1\n');
  await window.chord('a');
  await one.dialog.approveByKey();
  assert.equal((await one.call).isError, false);
  await window.hasFocus();
  const two = await ask('2\n');
  await two.dialog.approveByKey();
  assert.equal((await two.call).isError, false);
  await window.openFile('notes.txt');
  const three = await ask('3\n');
  await window.type('mine');
  await eventually('what is typed is in the file', async () => await window.text(window.editor('notes.txt')) === 'mine');
  await window.chord('a');
  await three.dialog.approveByKey();
  assert.equal((await three.call).isError, false);
  await eventually('the file is in front alone', async () => (await window.tabs()).join() === '* notes.txt');
  const four = await ask('4\n');
  await window.screenshot('request-after-answer');
  await four.dialog.approveByKey();
  assert.equal((await four.call).isError, false);
});

ride('cancelled: the agent is paused until the user lets it go on', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  await (await window.dialog(/one\.txt.*proposes/)).choose('Stop Agent');
  const cancelled = await call;
  assert.equal(cancelled.structured.error.code, 'CANCELLED');
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await eventually('the view says that it is paused', async () => (await window.waiting()).some((row) => /paused/.test(row)));
  await window.screenshot('paused');
  assert.equal((await agent.call('read_file', { path: 'one.txt' })).isError, true);
  await window.pressInView(/paused/, 'Resume');
  await eventually('its calls go through again', async () => !(await agent.call('read_file', { path: 'one.txt' })).isError);
});

ride('the window is closed while a question is open: denied, and nothing keeps running', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  await window.dialog(/one\.txt.*proposes/);
  assert.equal(sandbox.running(/pillion serve/).length, 1);
  await window.close();
  const result = await call;
  assert.equal(result.isError, true);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await eventually('the sidecar has ended', () => sandbox.running(/pillion serve/).length === 0, (grace + 10) * 1000);
});

ride('the sidecar dies: it comes back by itself and agents go on', files, async (it) => {
  const { window, sandbox } = it;
  const [sidecar] = sandbox.running(/pillion serve/);
  process.kill(Number.parseInt(sidecar, 10), 'SIGKILL');
  await eventually('another sidecar runs', () => {
    const [next] = sandbox.running(/pillion serve/);
    return next !== undefined && next !== sidecar;
  });
  await window.ready();
  const agent = await it.agent();
  const call = agent.call('edit_file', editTwo);
  await (await window.dialog(/two\.txt.*proposes/)).press('Approve');
  assert.equal((await call).isError, false);
});
