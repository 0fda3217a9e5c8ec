/** A question comes while the user is in the middle of something: whatever it is, it goes on as if nothing had come. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { eventually } from '../rig/expect.js';
import { HeldWire } from './held-wire.js';

const files = { 'notes.txt': 'one two three\nfour five six\n', 'other.txt': 'old\n' };
const edit = { path: 'other.txt', old_string: 'old', new_string: 'new' };

takePictures();

/** How one gets into it, the mode then, the keys that finish it, and what the notes hold afterwards. `deaf`: Neovim waits for a key, and
 * answers nothing meanwhile. @type {Record<string, {enter: string, mode: string, finish: string, text: string[], deaf?: boolean}>} */
const doings = {
  'typing': { enter: 'iabc', mode: 'i', finish: ' def<Esc>', text: ['abc defone two three', 'four five six'] },
  'typing over': { enter: 'RONE', mode: 'R', finish: ' TWO<Esc>', text: ['ONE TWO three', 'four five six'] },
  'choosing a completion': { enter: 'Got<C-n>', mode: 'ic', finish: '<C-y>!<Esc>', text: ['one two three', 'four five six', 'two!'] },
  'selecting': { enter: 've', mode: 'v', finish: 'd', text: [' two three', 'four five six'] },
  'selecting a block': { enter: '<C-v>jl', mode: '\x16', finish: 'd', text: ['e two three', 'ur five six'] },
  'half-way through an operator': { enter: 'd', mode: 'no', finish: 'w', text: ['two three', 'four five six'] },
  'half-way through a register': { enter: '"a', mode: 'n', finish: 'dd', text: ['four five six'], deaf: true },
  'typing a command': { enter: ':%s/two/2', mode: 'c', finish: '/<CR>', text: ['one 2 three', 'four five six'] },
  'searching': { enter: '/five', mode: 'c', finish: '<CR>x', text: ['one two three', 'four ive six'] },
  'in the command-line window': { enter: 'q:', mode: 'n', finish: ':q<CR>x', text: ['ne two three', 'four five six'] },
  'confirming each substitution': { enter: ':%s/o/0/gc<CR>', mode: 'r?', finish: 'ynq', text: ['0ne two three', 'four five six'], deaf: true },
  'recording a macro': { enter: 'qax', mode: 'n', finish: 'jq', text: ['ne two three', 'four five six'] },
};

ride('the keys go where they were meant to, and the question comes afterwards', files, async (it) => {
  const { nvim, has } = await watched(it);
  const agent = await it.agent();
  for (const [name, { enter, mode, finish, text, deaf }] of Object.entries(doings)) {
    await nvim.press(enter);
    await eventually(`${name}: the mode is ${mode}`, async () => (await nvim.mode()).mode === mode);
    const call = agent.call('edit_file', edit);
    await has(deaf);
    assert.equal((await nvim.mode()).mode, mode, name);
    await nvim.press(finish);
    await eventually(`${name}: the user has done what they were doing`, async () => {
      assert.deepEqual(await nvim.lines('notes.txt'), text);
      return true;
    });
    assert.equal(await nvim.file(), 'notes.txt', name);
    const dialog = await nvim.dialog('other.txt');
    await eventually(`${name}: it has its tab now`, async () => dialog.isShown());
    assert.equal(await nvim.file(), 'notes.txt', `${name}: the tab opens behind`);
    assert.equal(it.sandbox.read('other.txt'), 'old\n', name);
    await dialog.answer('reject');
    assert.equal((await call).isError, true, name);
    await eventually(`${name}: the file is in front again`, async () => (await nvim.file()) === 'notes.txt');
    await nvim.command('edit! | normal! gg0');
  }
}, null);

ride('typing into a terminal: the keys go to the terminal', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  await nvim.command('terminal cat');
  await nvim.press('i');
  await nvim.type('first line\n');
  const call = agent.call('edit_file', edit);
  await eventually('it waits', async () => (await nvim.waits()) === 1);
  await nvim.type('ga gr second line\n');
  await nvim.sees(/ga gr second line\n(.*\n)*ga gr second line/);
  assert.equal((await nvim.mode()).mode, 't');
  await (await nvim.dialog('other.txt')).answer('reject');
  assert.equal((await call).isError, true);
  await nvim.command('bwipeout! term://*');
});

ride('a message that wants a key: the key is for the message', files, async (it) => {
  const { nvim, has } = await watched(it);
  const { sandbox } = it;
  const agent = await it.agent();
  await nvim.command('echo "one\\ntwo\\nthree"');
  await nvim.sees(/Press ENTER/);
  const call = agent.call('edit_file', edit);
  await has(true);
  assert.match(nvim.screen.text, /three[^]*Press ENTER/);
  await nvim.press('<CR>');
  const dialog = await nvim.dialog('other.txt');
  assert.equal(sandbox.read('other.txt'), 'old\n');
  await dialog.answer('approve');
  assert.equal((await call).isError, false);
}, null);

ride('planning: the plan is a page; rejected the agent plans on, approved its edits ask', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await agent.call('read_file', { path: 'other.txt' });
  await nvim.command('Pillion mode plan');
  await nvim.sees(/scripted-agent · plan/);
  const plan = { plan: '# Plan\n1. mend it' };

  const first = agent.call('exit_plan_mode', plan);
  const dialog = await nvim.dialog('carry out a plan');
  await dialog.show();
  await nvim.sees('Carry out this plan?');
  await nvim.sees(/^ {2}# Plan$/m);
  await nvim.sees(/^ {2}1\. mend it$/m);
  nvim.screenshot('plan');
  await dialog.answer('reject test it first');
  const { approved, feedback } = (await first).structured;
  assert.deepEqual({ approved, feedback }, { approved: false, feedback: 'test it first' });
  assert.equal((await agent.call('edit_file', edit)).structured.error.code, 'POLICY_DENIED');

  const second = agent.call('exit_plan_mode', plan);
  await (await nvim.dialog('carry out a plan')).press('approve');
  assert.equal((await second).structured.approved, true);
  const call = agent.call('edit_file', edit);
  const question = await nvim.dialog('other.txt');
  assert.equal(sandbox.read('other.txt'), 'old\n');
  await question.answer('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('other.txt'), 'new\n');
});

/** A Neovim of which one can tell when it has another question, and has done all that it does about it now. @param {import('./ride.js').Ride} it */
async function watched(it) {
  const wire = new HeldWire(it.sandbox);
  const nvim = await it.begin({ opened: 'notes.txt', setup: `require('pillion').setup({ path = ${JSON.stringify(wire.program)} })\n` });
  let questions = 0;
  const has = async (/** @type {boolean | undefined} */ deaf) => {
    questions++;
    await eventually('the question is sent', () => wire.frames().filter(({ message }) => message.method === 'approval/request').length === questions);
    await nvim.hasRead();
    if (deaf) return;
    await eventually('the question is there', async () => (await nvim.waits()) === 1);
    await nvim.settled();
  };
  return { nvim, has };
}
