/** A patch of texts, modes and bytes, in a real VS Code: what a person is told of each file, and that just the part is made that they take. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { after, all, becameChosen, before, files, gaveChosen, gaveLower, inParts, isAsBefore, raw, told } from '../rig/patches.js';
import { ride, shareEditor } from './ride.js';

/** Its row says what becomes of each file, and a click on that shows its place on the page. @param {import('./workbench.js').Workbench} window @param {string} question */
async function looksAtEach(window, question) {
  for (const [name, words] of Object.entries(told)) {
    const fate = `${name in before ? '' : 'new file, '}${name in after ? '' : 'deleted, '}${words}`;
    await eventually(`the row of ${name} says it`, async () => (await window.boxes()).some((row) => row.startsWith(`☑ ${name}${fate}`)));
    await window.show(`${name}${fate}`);
    const page = await window.dialog(question);
    await eventually(`the page tells of ${name}`, async () => (await page.pageText()).includes(`  ${name}  ${fate}\n`));
    assert.doesNotMatch(await page.pageText(), raw);
  }
}

/** Leaves some of it out. @param {import('./workbench.js').Workbench} window @param {(string | RegExp)[]} rows */
async function leaves(window, ...rows) {
  for (const row of rows) await window.tick(row);
}

shareEditor();

ride('modes and bytes: each file is told at a glance; a part is approved, made, and reverted', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch', all());
  const dialog = await (await window.dialog(/clock\.py \(2 of 8\): .*proposes \+2 −2/)).drawn();
  await window.chooseHunks(dialog);
  await window.screenshot('patch-text');
  await looksAtEach(window, 'Change files?');
  await eventually('pictures are drawn', async () => (await window.page.locator('.view-line span').evaluateAll((spans) =>
    spans.filter((span) => getComputedStyle(span, '::after').content.includes('data:image/svg+xml')))).length >= 2);
  await window.screenshot('patch-page');
  await leaves(window, 'seconds:02d', 'pot.png', 'notes.txt', /pour\.sh.*made executable/);
  const page = await window.dialog('Change files?');
  await eventually('the page says what is left out', async () => /pot\.png {2}.*\n {2}You left this out/.test(await page.pageText()));
  await eventually('the row does', async () => (await window.waiting()).some((row) => /^Approve 6 of 10/.test(row.replaceAll('\u00a0', ' '))));
  await window.screenshot('patch-chosen');
  await page.press('Approve Selected');
  await becameChosen(call, sandbox);

  await window.command('Pillion: Revert This Turn…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Claude Code' }).first().click();
  const preview = await (await window.dialog('Revert?')).drawn('Revert');
  for (const fact of [
    /^beans\.bin {3}binary, other content, 3000 bytes$/m, /^brew\.sh {3}not executable any more, mode 100755 → 100644$/m, /^leaf\.png {3}is deleted/m, /^old\.bin {3}is restored, binary, 4 bytes$/m,
  ]) await eventually(`the page says ${fact}`, async () => fact.test(await preview.pageText()));
  assert.doesNotMatch(await preview.pageText(), raw);
  await window.screenshot('patch-revert');
  await preview.press('Revert');
  await isAsBefore(sandbox);
});

ride('modes and bytes in a patch to review: the agent gets just the part that is taken', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch_review', { ...all(), message: 'A greener pot' });
  const dialog = await (await window.dialog(/Review clock\.py \(3 of 8\): Claude Code, \+2 −2/)).drawn('Send to Agent');
  await window.chooseHunks(dialog);
  await window.screenshot('patch-review-text');
  await eventually('the row of a text says its mode', async () => (await window.boxes()).some((row) => /pour\.sh.*made executable/.test(row)));
  await looksAtEach(window, 'Review a patch?');
  await window.screenshot('patch-review-page');
  await leaves(window, 'seconds:02d', 'pot.png', 'notes.txt');
  const page = await window.dialog('Review a patch?');
  await eventually('the page says what is left out', async () => /pot\.png {2}.*\n {2}You left this out/.test(await page.pageText()));
  await page.press('Send Selected to Agent');
  await gaveChosen(call, sandbox);
});

ride('a file that two parts of a patch change is one to choose from', inParts.files, async (it) => {
  const { window } = it;
  const agent = await it.agent('claude-code');
  const call = agent.call('apply_patch_review', { diff: inParts.diff() });
  const dialog = await (await window.dialog(/Review clock\.py: Claude Code, \+2 −2/)).drawn('Send to Agent');
  await window.chooseHunks(dialog);
  await window.tick('seconds:02d');
  await eventually('the right side has it no more', async () => /float/.test(await dialog.proposedText()) && !/02d/.test(await dialog.proposedText()));
  await dialog.press('Send Selected to Agent');
  await gaveLower(call);
});
