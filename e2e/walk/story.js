/**
 * The way that every user walks, once in each real place: an agent's change is approved in part, another one refused with a reason, a
 * command approved, and the turn reverted. The place gives the person's hands; what it shows is its own rides' subject.
 */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { clock } from '../rig/kettle.js';

const counted = (/** @type {string} */ text) => text.replace('left -= 1', 'left = left - 1');
const padded = (/** @type {string} */ text) => text.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');
const floats = (/** @type {string} */ text) => text.replace('int(number)', 'float(number)');

export const files = { 'clock.py': clock, 'test.sh': 'python3 -B -c "import clock; print(clock.face(65))"\n' };

/** What the agent calls, in this order: a change of three hunks, an edit, a command. */
export const change = { path: 'clock.py', content: floats(counted(padded(clock))) };
export const unwanted = { path: 'clock.py', old_string: 'BREAK = 60', new_string: 'BREAK = 30' };
export const command = { command: 'sh test.sh' };
export const reason = 'the break is long enough';

/** The second hunk of the change, which the user leaves out: a line as it is now, and as it would be. */
export const second = { from: 'left -= 1', to: 'left = left - 1' };
/** The file after the user has taken the other two. */
export const taken = floats(padded(clock));

/**
 * @typedef {{
 *   sandbox: import('../rig/sandbox.js').Sandbox,
 *   takesPart: () => Promise<string>, refuses: () => Promise<string>, runs: () => Promise<void>, reverts: () => Promise<void>,
 * }} Person `takesPart`: leaves the second hunk out where the place can, approves, and answers the text that the file has then; `refuses`: answers the
 * reason that was given, '' where the place takes none
 */

/** An agent of the rig, and a person at their place. @param {import('../rig/agent.js').Agent} agent @param {Person} person */
export async function walk(agent, { sandbox, takesPart, refuses, runs, reverts }) {
  await agent.call('read_file', { path: 'clock.py' });
  const changing = agent.call('write_file', change);
  const text = await takesPart();
  const changed = await changing;
  assert.equal(changed.isError, false, changed.text);
  assert.equal(changed.structured.edited_by_human ?? false, text !== change.content, changed.text);
  assert.equal(sandbox.read('clock.py'), text);

  const refusing = agent.call('edit_file', unwanted);
  const why = await refuses();
  const refused = await refusing;
  assert.equal(refused.structured.error.code, 'USER_REJECTED', refused.text);
  assert.ok(refused.text.includes(why), refused.text);
  assert.equal(sandbox.read('clock.py'), text);

  const running = agent.call('run_command', command);
  await runs();
  const ran = await running;
  assert.equal(ran.isError, false, ran.text);
  assert.equal(ran.structured.stdout, '1:05\n');

  await reverts();
  await eventually('the file is as it was', () => sandbox.read('clock.py') === clock);
}
