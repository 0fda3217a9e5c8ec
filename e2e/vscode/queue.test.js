/** Several questions, and questions that nobody answers: the queue, closed tabs and windows, agents that give up. */
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

ride('the agent gives up: the dialog says so and can no longer be approved', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const giveUp = new AbortController();
  const call = agent.call('edit_file', editOne, { signal: giveUp.signal });
  const dialog = await window.dialog(/one\.txt.*proposes/);
  giveUp.abort('the agent gave up');
  await assert.rejects(call);
  await eventually('the question is gone', async () => !(await dialog.isOpen()));
  const ended = await window.dialog('Closed request');
  await eventually('the page says why', async () => /gave up waiting/.test(await ended.pageText()));
  assert.equal(await ended.button('Approve').count(), 0);
  await window.screenshot('agent-gave-up');
  await eventually('so does the activity', async () => (await window.activity()).some((row) => /the agent gave up the call/.test(row)));
  await window.ready();
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
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
