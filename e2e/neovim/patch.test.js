/** A patch of texts, modes and bytes, in a real Neovim: what a person is told of each file, and that just the part is made that they take. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { after, all, becameChosen, before, files, gaveChosen, gaveLower, inParts, isAsBefore, raw, told } from '../rig/patches.js';
import { ride, takePictures } from './ride.js';

/** What the page says of a file. @param {string} name */
function entry(name) {
  const fate = name in before ? (name in after ? '' : 'deleted, ') : 'new file, ';
  return `${name}  ${fate}${told[/** @type {keyof typeof told} */ (name)]}`;
}

/**
 * Goes through all hunks, of files in this order, and leaves some out.
 * @param {import('./neovim.js').Neovim} nvim @param {string[]} order @param {number[]} left
 */
async function goesThrough(nvim, order, left) {
  for (const [at, name] of order.entries()) {
    const place = `${at + 1} of ${order.length}`;
    await nvim.sees(new RegExp(`hunk ${place} selected .*${name.replace('.', '\\.')} \\(\\d of 8\\)`));
    if (name in told) await eventually(`the cursor is where the page tells of ${name}`, async () => (await nvim.api('nvim_get_current_line')).trim() === entry(name));
    if (name in told) await nvim.sees(entry(name));
    assert.doesNotMatch(nvim.screen.text, raw);
    if (left.includes(at + 1)) {
      await nvim.press('gh');
      await nvim.sees(`hunk ${place} left out`);
      if (name === 'notes.txt') await nvim.sees(/\btwo\b/); // what was to be deleted is still to be seen, and not folded away
    }
    nvim.screenshot(`patch-${at + 1}-of-${order.length}`);
    await nvim.press(']h');
  }
}

takePictures();

ride('modes and bytes: each file is told at a glance; a part is approved, made, and reverted', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch', all());
  const dialog = await nvim.dialog('edit 8 files');
  await dialog.show();
  const order = ['beans.bin', 'clock.py', 'clock.py', 'leaf.png', 'pot.png', 'pour.sh', 'brew.sh', 'notes.txt', 'old.bin', 'pour.sh'];
  await goesThrough(nvim, order, [2, 5, 8, 10]);
  await nvim.sees('ga approve 6 of 10');
  await dialog.press('approve');
  await becameChosen(call, sandbox);

  await nvim.command('Pillion revert turn');
  for (const fact of ['beans.bin  binary, other content, 3000 bytes', 'brew.sh  not executable any more, mode 100755 → 100644', 'leaf.png  deleted', 'old.bin  new file, binary, 4 bytes']) {
    await nvim.sees(fact);
  }
  assert.doesNotMatch(nvim.screen.text, raw);
  nvim.screenshot('patch-revert');
  await nvim.revert('6 files as shown');
  await isAsBefore(sandbox);
}, { opened: 'clock.py', columns: 160 });

ride('modes and bytes in a patch to review: the agent gets just the part that is taken', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch_review', { ...all(), message: 'A greener pot' });
  const dialog = await nvim.dialog('a patch of 8 files');
  await dialog.show();
  const order = ['beans.bin', 'brew.sh', 'clock.py', 'clock.py', 'leaf.png', 'notes.txt', 'old.bin', 'pot.png', 'pour.sh'];
  await goesThrough(nvim, order, [3, 6, 8]);
  await nvim.sees('ga send to agent 6 of 9');
  await dialog.press('approve');
  await gaveChosen(call, sandbox);
}, { opened: 'clock.py', columns: 160 });

ride('from a page to a diff and on to the next: each file is compared with itself alone', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('apply_patch', all());
  const dialog = await nvim.dialog('edit 8 files');
  await dialog.show();
  for (const name of ['beans.bin', 'clock.py', 'leaf.png', 'pot.png', 'pour.sh']) {
    await nvim.sees(`· ${name} (`);
    if (name === 'pour.sh') await eventually('it has as many lines on both sides', () => /echo pouring slowly/.test(nvim.screen.text) && !/-{20}/.test(nvim.screen.text));
    await nvim.press(']f');
  }
  await dialog.press('reject');
  assert.equal((await call).isError, true);
}, { opened: 'clock.py', columns: 160 });

ride('a file that two parts of a patch change is one to choose from', inParts.files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch_review', { diff: inParts.diff() });
  const dialog = await nvim.dialog('a patch of clock.py');
  await dialog.show();
  await nvim.sees('hunk 1 of 2 selected');
  await nvim.press('gh');
  await nvim.sees('hunk 1 of 2 left out');
  await dialog.press('approve');
  await gaveLower(call);
}, { columns: 160 });
