/** Emacs with eglot: questions are asked in the minibuffer. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, greeting } from '../rig/greeting.js';
import { cases, plainly } from './cases.js';
import { Emacs } from './emacs.js';

cases('Emacs', Emacs.start);

/** @param {string} name @param {(ride: import('./cases.js').Ride, emacs: Emacs) => Promise<void>} body */
const inEmacs = (name, body) => plainly(name, Emacs.start, (it) => body(it, /** @type {Emacs} */ (it.editor)));

inEmacs('Emacs: C-g loses the box and answers nothing; a command refuses with a reason', async (it, emacs) => {
  const call = it.agent.call('edit_file', edit);
  await it.reads();
  await emacs.quit();
  await emacs.command('pillion-reject');
  await emacs.terminal.sees(/Reason/);
  await emacs.terminal.type('keep the plus sign');
  await emacs.terminal.press('Enter');
  const result = await call;
  assert.equal(result.structured.error.code, 'USER_REJECTED');
  assert.match(result.text, /keep the plus sign/);
  assert.equal(it.sandbox.read('greet.py'), greeting);
});

inEmacs('Emacs: a box that was lost is shown again by a command', async (it, emacs) => {
  const call = it.agent.call('edit_file', edit);
  await it.reads();
  await emacs.quit();
  await emacs.command('pillion-show');
  await emacs.terminal.sees(/Choose an option/);
  assert.equal(it.sandbox.read('greet.py'), greeting);
  await emacs.approve(); // which is the answer: until then there was none
  assert.equal((await call).isError, false);
  await eventually('nothing waits and nothing runs', async () => { // the agent has its result before the call is off the list
    await emacs.command('pillion-status');
    return /0 requests are waiting for your answer, 0 running/.test(await emacs.terminal.sees(/\d+ requests? (are|is) waiting for your answer, \d+ running/));
  });
});
