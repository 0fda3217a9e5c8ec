/** Taking a part of what an agent proposes, hunk by hunk, and patches that an agent shows, in a real Neovim. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';

const clock = `"""A kettle that tells when the tea is ready."""
import time

BREAK = 60


def face(seconds):
    if seconds < 0:
        raise ValueError("the tea is ready")
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes}:{seconds}"


def wait(seconds, tick=time.sleep):
    left = seconds
    while left > 0:
        yield face(left)
        tick(1)
        left -= 1


def rest(kind):
    """How long nobody may touch the pot."""
    return BREAK if kind == "green" else 0


def minutes(text):
    number, unit = text.split()
    if unit not in ("min", "minutes"):
        raise ValueError(unit)
    return int(number) * 60
`;
const files = { 'clock.py': clock };

const padded = (/** @type {string} */ text) => text.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');
const counted = (/** @type {string} */ text) => text.replace('left -= 1', 'left = left - 1');
const floats = (/** @type {string} */ text) => text.replace('int(number)', 'float(number)');

takePictures();

ride('a change of three hunks, one of them left out: the file holds exactly the other two', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await nvim.sees('hunk 1 of 3 taken · all chosen · clock.py');
  await nvim.press(']h');
  await nvim.sees('hunk 2 of 3 taken');
  await nvim.press('gh');
  await nvim.sees('hunk 2 of 3 left out · 2 of 3 chosen');
  await nvim.sees('left out: +1 −1');
  await nvim.sees('ga approve 2 of 3');
  assert.deepEqual(await dialog.proposedText(), lines(floats(padded(clock))));
  nvim.screenshot('hunks');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.edited_by_human, true);
  assert.equal(sandbox.read('clock.py'), floats(padded(clock)));
  await eventually('its tab is gone', async () => (await nvim.tabs()).join() === 'clock.py');
}, { opened: 'clock.py', columns: 160 });

ride('hunks left out, and a line of the human’s own: the file holds exactly what stood on the right', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.enterProposal();
  await nvim.press('4GA # seconds<Esc>');
  await nvim.sees('edited by you');
  await nvim.press('11Ggh');
  await nvim.sees('hunk 1 of 3 left out · 2 of 3 chosen');
  await nvim.press('G0ccreturn 0<Esc>');
  await nvim.sees('hunk 3 of 3 written over by you');
  await nvim.press('gh');
  await nvim.sees('because you wrote over it');
  nvim.screenshot('hunks-edited');
  const wanted = counted(clock).replace('BREAK = 60', 'BREAK = 60 # seconds').replace('    return int(number) * 60', '    return 0');
  assert.deepEqual(await dialog.proposedText(), lines(wanted));
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('clock.py'), wanted);
}, { columns: 160 });

ride('every hunk left out is no yes; the file changes meanwhile, and what is left out stays so', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await nvim.press('gH');
  await nvim.sees('0 of 3 chosen');
  await eventually('the yes is refused', async () => {
    await nvim.press('ga');
    return /every hunk is left out/.test(nvim.screen.text);
  });
  assert.equal(await dialog.isOpen(), true);
  await nvim.press('gH');
  await nvim.sees('all chosen');
  await nvim.press('gh');
  await nvim.sees('2 of 3 chosen');
  sandbox.write('clock.py', `# from outside\n${clock}`);
  await nvim.sees('# from outside');
  await nvim.sees('2 of 3 chosen');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('clock.py'), `# from outside\n${floats(counted(clock))}`);
}, { columns: 160 });

/** An agent that has read the file proposes three changes of it, which the person looks at. @param {import('./ride.js').Ride} it */
async function proposed(it) {
  const agent = await it.agent();
  await agent.call('read_file', { path: 'clock.py' });
  const changes = [['{minutes}:{seconds}', '{minutes}:{seconds:02d}'], ['left -= 1', 'left = left - 1'], ['int(number)', 'float(number)']];
  const edits = changes.map(([old_string, new_string]) => ({ old_string, new_string }));
  const call = agent.call('edit_file', { path: 'clock.py', edits });
  const dialog = await it.nvim.dialog('clock.py');
  await dialog.show();
  return { call, dialog };
}
