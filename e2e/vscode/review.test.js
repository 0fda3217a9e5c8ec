/** Taking a part of what an agent proposes, in a real VS Code: hunk by hunk. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { ride, shareBrowser } from './ride.js';

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
const proposed = floats(counted(padded(clock)));

/** @param {import('./workbench.js').Workbench} window @param {number} ticked @param {number} all */
async function ticks(window, ticked, all) {
  await eventually(`${ticked} of ${all} hunks are ticked`, async () => {
    const hunks = (await window.boxes()).filter((row) => /^. \d+: /.test(row));
    return hunks.length === all && hunks.filter((row) => row.startsWith('☑')).length === ticked;
  });
}

shareBrowser();

ride('a change of three hunks, one of them unticked: the file holds exactly the other two', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('clock.py');
  const agent = await it.agent();
  await agent.call('read_file', { path: 'clock.py' });
  const call = agent.call('write_file', { path: 'clock.py', content: proposed });
  const dialog = await (await window.dialog(/clock\.py.*proposes/)).drawn();
  await window.chooseHunks(dialog);
  await ticks(window, 3, 3);
  await window.tick('left = left - 1');
  await ticks(window, 2, 3);
  await eventually('the right side has what is left', async () => /left -= 1/.test(await dialog.proposedText()));
  await dialog.button('Approve Selected').waitFor();
  assert.match((await window.waiting()).join('\n'), /Approve 2 of 3/);
  await window.screenshot('hunks-of-a-change');
  await dialog.proposal.locator('.view-line', { hasText: 'number' }).last().click();
  await window.press('Control+k');
  await window.press('h');
  await ticks(window, 1, 3);
  await window.press('Control+k');
  await window.press('h');
  await ticks(window, 2, 3);
  await dialog.press('Approve Selected');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.edited_by_human, true);
  assert.equal(sandbox.read('clock.py'), floats(padded(clock)));
  assert.deepEqual(await window.tabs(), ['clock.py']);
});
