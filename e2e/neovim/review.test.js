/** Taking a part of what an agent proposes, hunk by hunk, and patches that an agent shows, in a real Neovim. */
import assert from 'node:assert/strict';
import { draftCase } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { lines } from '../rig/greeting.js';
import { clock } from '../rig/kettle.js';
import { applied, patch, texts } from '../rig/patches.js';
import { ride, takePictures } from './ride.js';

const files = { 'clock.py': clock };

const padded = (/** @type {string} */ text) => text.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');
const counted = (/** @type {string} */ text) => text.replace('left -= 1', 'left = left - 1');
const floats = (/** @type {string} */ text) => text.replace('int(number)', 'float(number)');

takePictures();

ride('a change of three hunks, one of them left out: the file holds exactly the other two', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await nvim.sees('hunk 1 of 3 selected · clock.py');
  await nvim.press(']h');
  await nvim.sees('hunk 2 of 3 selected');
  await nvim.press('gh');
  await nvim.sees('hunk 2 of 3 left out');
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

ride('hunks left out, and a line of the user’s own: the file holds exactly what stood on the right', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.enterProposal();
  await nvim.press('4GA # seconds<Esc>');
  await nvim.sees(/edited( by you)?  ga/);
  await nvim.press('11Ggh');
  await nvim.sees('hunk 1 of 3 left out');
  await nvim.press('G0ccreturn 0<Esc>');
  await nvim.sees('hunk 3 of 3 changed by you');
  await nvim.press('gh');
  await nvim.sees('you edited 1 hunk');
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
  await nvim.sees('ga approve 0 of 3');
  await nvim.answers('ga');
  await nvim.sees('every hunk is left out');
  assert.equal(await dialog.isOpen(), true);
  await nvim.press('gH');
  await nvim.sees('ga approve  ');
  await nvim.press('gh');
  await nvim.sees('ga approve 2 of 3');
  sandbox.write('clock.py', `# from outside\n${clock}`);
  await nvim.sees('from outside');
  await nvim.sees('ga approve 2 of 3');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('clock.py'), `# from outside\n${floats(counted(clock))}`);
}, { columns: 160 });

ride('a patch that is to be applied: a hunk, a deletion and a new file are left out, the rest is made', { ...files, 'old.py': 'old = 1\n' }, async (it) => {
  const { nvim, sandbox } = it;
  const before = { 'clock.py': clock, 'old.py': 'old = 1\n' };
  const after = { 'clock.py': floats(counted(padded(clock))), 'cup.py': 'cup = 1\n', 'tray.py': 'tray = 1\n' };
  const agent = await it.agent();
  const call = agent.call('apply_patch', { diff: patch(texts(before), texts(after)) });
  const dialog = await nvim.dialog('4 files');
  await dialog.show();
  const left = { 'left -= 1': 0, 'cup.py': 0, 'old.py': 0 };
  for (let hunk = 1; hunk <= 6; hunk += 1) {
    await nvim.sees(`hunk ${hunk} of 6 selected`);
    const [what] = Object.keys(left).filter((name) => (name === 'left -= 1' ? hunk === 2 : nvim.screen.text.includes(`${name} (`)));
    if (what) {
      await nvim.press('gh');
      await nvim.sees(`hunk ${hunk} of 6 left out`);
      Object.assign(left, { [what]: 1 });
      nvim.screenshot(`patch-${hunk}`);
    }
    await nvim.press(']h');
  }
  assert.deepEqual(Object.values(left), [1, 1, 1]);
  await nvim.sees('ga approve 3 of 6');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('clock.py'), floats(padded(clock)));
  assert.equal(sandbox.read('old.py'), before['old.py']);
  assert.equal(sandbox.read('tray.py'), after['tray.py']);
  assert.equal(sandbox.exists('cup.py'), false);
}, { opened: 'clock.py', columns: 160 });

const pot = 'SORTS = ["green", "black"]\n\n\ndef leaves(cups):\n    return 2 * cups\n\n\n# poured\n# slowly\n\n\ndef water(cups):\n    return 200 * cups\n';
const fuller = (/** @type {string} */ text) => text.replace('200 * cups', '250 * cups');
const stronger = (/** @type {string} */ text) => text.replace('2 * cups\n', '3 * cups\n');

ride('a patch is reviewed: two of five hunks left out and a line of the user’s own, the agent gets exactly that', { ...files, 'pot.py': pot }, async (it) => {
  const { nvim, sandbox } = it;
  const all = { 'clock.py': floats(counted(padded(clock))), 'pot.py': fuller(stronger(pot)) };
  const agent = await it.agent();
  const call = agent.call('apply_patch_review', { diff: patch(texts({ 'clock.py': clock, 'pot.py': pot }), texts(all)), message: 'a better kettle' });
  await nvim.sees('wants to have a patch of 2 files reviewed; a better kettle');
  assert.equal(await nvim.waits(), 1);
  const dialog = await nvim.dialog('a patch of 2 files');
  await dialog.show();
  await nvim.sees('hunk 1 of 5 selected · clock.py (1 of 2)');
  await nvim.press(']hgh');
  await nvim.sees('hunk 2 of 5 left out');
  nvim.screenshot('review');
  await nvim.press(']h]h');
  await nvim.sees('hunk 4 of 5 selected · pot.py (2 of 2)');
  await nvim.press('gh');
  await nvim.sees('hunk 4 of 5 left out');
  await nvim.press('1GA # of tea<Esc>');
  await nvim.sees(/edited( by you)?  ga/);
  const wanted = { 'clock.py': floats(padded(clock)), 'pot.py': fuller(pot).replace('"black"]', '"black"] # of tea') };
  assert.deepEqual(await dialog.proposedText(), lines(wanted['pot.py']));
  nvim.screenshot('review-edited');
  await dialog.press('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  const { action, chunks_total, edited, filtered_diff } = result.structured;
  assert.deepEqual({ action, chunks_total, edited }, { action: 'apply', chunks_total: 5, edited: true });
  assert.deepEqual(applied(texts({ 'clock.py': clock, 'pot.py': pot }), filtered_diff), texts(wanted));
  assert.equal(sandbox.read('clock.py'), clock);
  assert.equal(sandbox.read('pot.py'), pot);
  await eventually('its tab is gone', async () => (await nvim.tabs()).join() === 'clock.py');
}, { opened: 'clock.py', columns: 160 });

ride('a patch that the user does not want: the agent reads why', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('apply_patch_review', { diff: patch(texts(files), texts({ 'clock.py': floats(padded(clock)) })) });
  const dialog = await nvim.dialog('a patch of clock.py');
  await dialog.answer('cancel keep whole minutes');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.action, 'cancel');
  assert.equal(result.structured.feedback, 'keep whole minutes');
  assert.equal(sandbox.read('clock.py'), clock);
}, { opened: 'clock.py', columns: 160 });

/** @type {import('../rig/cases.js').Riding<import('./ride.js').Ride>} */
const wide = (name, all, body) => ride(name, all, body, { columns: 160 });

draftCase(wide, {
  choose: async ({ nvim }) => {
    await nvim.command('Pillion mode draft');
    await nvim.sees(/scripted-agent · draft/);
  },
  listed: async ({ nvim }, words) => {
    await nvim.command('Pillion sessions');
    await nvim.sees(words);
  },
  take: async ({ nvim }, left) => {
    const dialog = await nvim.dialog('apply its draft');
    await dialog.show();
    await nvim.sees('Draft of scripted-agent');
    if (left !== undefined) {
      await nvim.sees('hunk 1 of 3 selected · clock.py (1 of 2)');
      await nvim.press(']hgh');
      await nvim.sees('hunk 2 of 3 left out');
      await nvim.sees('ga apply 2 of 3');
    }
    nvim.screenshot(left === undefined ? 'draft-rest' : 'draft-review');
    await dialog.press('approve');
  },
});

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
