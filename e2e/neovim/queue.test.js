/** Several questions, and questions that nobody answers: the queue, closed tabs, agents that give up, Neovims that end. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { eventually } from '../rig/expect.js';

const files = { 'one.txt': 'first\n', 'two.txt': 'second\n' };
const editOne = { path: 'one.txt', old_string: 'first', new_string: 'FIRST' };
const editTwo = { path: 'two.txt', old_string: 'second', new_string: 'SECOND' };

takePictures();

ride('two calls at once: both wait, each is answered by itself', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const first = agent.call('edit_file', editOne);
  await nvim.dialog('one.txt');
  const second = agent.call('edit_file', editTwo);
  await eventually('both wait', async () => (await nvim.waits()) === 2);
  assert.match(await nvim.status(), /2/);
  await nvim.picker();
  await nvim.sees(/one\.txt[^]*two\.txt/);
  nvim.screenshot('two-wait');
  await nvim.leavePicker();
  await (await nvim.dialog('one.txt')).answer('reject');
  await (await nvim.dialog('two.txt')).answer('approve');
  assert.equal((await first).isError, true);
  assert.equal((await second).isError, false);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  assert.equal(sandbox.read('two.txt'), 'SECOND\n');
  await eventually('nothing waits', async () => (await nvim.waits()) === 0);
});

ride('two agents at once: each is told its own answer', files, async (it) => {
  const { nvim, sandbox } = it;
  const red = await it.agent('red');
  const blue = await it.agent('blue');
  const first = red.call('edit_file', editOne);
  await nvim.dialog('one.txt');
  const second = blue.call('edit_file', editTwo);
  await eventually('both wait', async () => (await nvim.waits()) === 2);
  await nvim.pick(/two\.txt/);
  await nvim.sees('SECOND');
  await (await nvim.dialog('two.txt')).answer('approve');
  assert.equal((await second).isError, false);
  assert.equal(sandbox.read('two.txt'), 'SECOND\n');
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await (await nvim.dialog('one.txt')).answer('approve');
  assert.equal((await first).isError, false);
});

ride('one answer for all that wait', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const calls = [agent.call('edit_file', editOne)];
  await eventually('one waits', async () => (await nvim.waits()) === 1); // two calls at once may overtake each other
  calls.push(agent.call('edit_file', editTwo));
  await eventually('both wait', async () => (await nvim.waits()) === 2);
  await nvim.command('Pillion together');
  await nvim.sees(/1\. .* wants to change files[^]*one\.txt[^]*\+FIRST/);
  await nvim.sees(/2\. .* wants to change files[^]*two\.txt[^]*\+SECOND/);
  nvim.screenshot('together');
  await nvim.answers('ga');
  await eventually('the answer is taken', async () => (await nvim.waits()) === 0);
  for (const call of calls) assert.equal((await call).isError, false);
  assert.equal(sandbox.read('one.txt') + sandbox.read('two.txt'), 'FIRST\nSECOND\n');
});

ride('the tab is closed: that is no answer, the call waits and can be shown again', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await shown(it);
  await nvim.command('tabclose');
  await eventually('its tab is closed', async () => !(await dialog.isShown()));
  await nvim.settled();
  assert.equal(await nvim.waits(), 1);
  assert.equal(await dialog.isShown(), false);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await nvim.pick(/one\.txt/);
  await nvim.sees('FIRST');
  await (await nvim.dialog('one.txt')).answer('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('one.txt'), 'FIRST\n');
}, { opened: 'two.txt' });

ride('its buffers are wiped: no answer either', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await shown(it);
  await dialog.enterProposal();
  await nvim.command('bwipeout!');
  await nvim.settled();
  assert.equal(await nvim.waits(), 1);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await nvim.command('Pillion show');
  await nvim.sees('FIRST');
  await (await nvim.dialog('one.txt')).answer('approve');
  assert.equal((await call).isError, false);
}, { opened: 'two.txt' });

ride('the agent gives up: the dialog says so and cannot be approved any more', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const giveUp = new AbortController();
  const call = agent.call('edit_file', editOne, { signal: giveUp.signal });
  const dialog = await nvim.dialog('one.txt');
  await dialog.show();
  giveUp.abort('the agent gave up');
  await assert.rejects(call);
  await eventually('the question is gone', async () => !(await dialog.isOpen()));
  await nvim.sees(/no longer waits for an answer/);
  nvim.screenshot('agent-gave-up');
  await nvim.command('Pillion approve');
  await nvim.sees('no requests are waiting');
  assert.equal((await agent.call('read_file', { path: 'one.txt' })).structured.content, files['one.txt']);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
});

ride('cancelled: the agent is paused until the user lets it go on', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  await (await nvim.dialog('one.txt')).answer('cancel');
  const cancelled = await call;
  assert.equal(cancelled.structured.error.code, 'CANCELLED');
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await eventually('it is paused', async () => /scripted-agent paused/.test(await nvim.status()));
  await nvim.picker();
  await nvim.sees('scripted-agent is paused');
  nvim.screenshot('paused');
  await nvim.leavePicker();
  assert.equal((await agent.call('read_file', { path: 'one.txt' })).isError, true);
  await nvim.command('Pillion resume');
  await eventually('its calls go through again', async () => !(await agent.call('read_file', { path: 'one.txt' })).isError);
});

ride('Neovim is closed while a question is open: denied, and nothing keeps running', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  await nvim.dialog('one.txt');
  assert.equal(sandbox.running(/pillion serve/).length, 1);
  await nvim.close();
  const result = await call;
  assert.equal(result.isError, true);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await eventually('the sidecar has ended', () => sandbox.running(/pillion serve/).length === 0);
});

ride('Neovim is killed while a question is open: denied, and nothing keeps running', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  await nvim.dialog('one.txt');
  await nvim.kill();
  assert.equal((await call).isError, true);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  await eventually('the sidecar has ended', () => sandbox.running(/pillion serve/).length === 0);
});

ride(':wqa while a question waits: what the user wrote is saved, Neovim ends at once, the call is denied', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await nvim.press('Go');
  await nvim.type('mine');
  await nvim.press('<Esc>');
  const call = agent.call('edit_file', editOne);
  const dialog = await nvim.dialog('one.txt');
  await dialog.show();
  await nvim.command('wqa');
  await nvim.ended();
  const result = await call;
  assert.equal(result.isError, true);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
  assert.equal(sandbox.read('two.txt'), 'second\nmine\n');
  await eventually('the sidecar has ended', () => sandbox.running(/pillion serve/).length === 0);
}, { opened: 'two.txt' });

ride(':wqa while a question waits whose proposal was edited: nothing is written that nobody approved', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await shown(it);
  await dialog.enterProposal();
  await nvim.press('Goby hand<Esc>');
  await nvim.command('wqa');
  await nvim.ended();
  assert.equal((await call).isError, true);
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
}, { opened: 'two.txt' });

ride('the sidecar dies: it comes back by itself and agents go on', files, async (it) => {
  const { nvim, sandbox } = it;
  const [sidecar] = sandbox.running(/pillion serve/);
  process.kill(Number.parseInt(sidecar, 10), 'SIGKILL');
  await eventually('another sidecar runs', () => {
    const [next] = sandbox.running(/pillion serve/);
    return next !== undefined && next !== sidecar;
  });
  await nvim.ready();
  const agent = await it.agent();
  const call = agent.call('edit_file', editTwo);
  await (await nvim.dialog('two.txt')).answer('approve');
  assert.equal((await call).isError, false);
  assert.deepEqual(await nvim.lines('two.txt'), ['SECOND']);
}, { opened: 'two.txt' });

ride('the sidecar dies while a question is open: its proposal is gone, and says why', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await shown(it);
  process.kill(Number.parseInt(sandbox.running(/pillion serve/)[0], 10), 'SIGKILL');
  assert.equal((await call).isError, true);
  await eventually('the question is gone', async () => !(await dialog.isOpen()) && (await nvim.waits()) === 0);
  await nvim.ready();
  assert.equal(sandbox.read('one.txt'), files['one.txt']);
});

/** An agent asks, and its proposal is in front. @param {import('./ride.js').Ride} it */
async function shown(it) {
  const agent = await it.agent();
  const call = agent.call('edit_file', editOne);
  const dialog = await it.nvim.dialog('one.txt');
  await dialog.show();
  return { call, dialog };
}
