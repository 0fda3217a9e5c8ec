/** Taking a part of what an agent proposes, in a real VS Code: hunk by hunk, of a change and of a patch to review. */
import assert from 'node:assert/strict';
import { draftCase } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { clock } from '../rig/kettle.js';
import { patch, texts } from '../rig/patches.js';
import { ride, shareEditor } from './ride.js';

const tea = `STEEP = {
    "green": 120,
    "black": 240,
}


def steep(kind):
    return STEEP[kind]


def label(kind):
    return kind.title()
`;
const files = { 'clock.py': clock, 'tea.py': tea };

const padded = (/** @type {string} */ text) => text.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');
const counted = (/** @type {string} */ text) => text.replace('left -= 1', 'left = left - 1');
const floats = (/** @type {string} */ text) => text.replace('int(number)', 'float(number)');
const oolong = (/** @type {string} */ text) => text.replace('    "black": 240,\n', '    "black": 240,\n    "oolong": 180,\n');
const upper = (/** @type {string} */ text) => text.replace('kind.title()', 'kind.upper()');
const proposed = { 'clock.py': floats(counted(padded(clock))), 'tea.py': upper(oolong(tea)) };

/**
 * The boxes show it, and so does the row that a yes is given with.
 * @param {import('./workbench.js').Workbench} window @param {number} ticked @param {number} all
 */
async function ticks(window, ticked, all) {
  const yes = ticked < all ? new RegExp(`^(Approve|Send to Agent) ${ticked} of ${all} Hunks$`) : new RegExp(`^(Approve|Send to Agent) (All ${all} Hunks|2 Files)$`);
  await eventually(`${ticked} of ${all} hunks are ticked`, async () => {
    const hunks = (await window.boxes()).filter((row) => /^. \d+: /.test(row));
    const isTicked = hunks.length === all && hunks.filter((row) => row.startsWith('☑')).length === ticked;
    return isTicked && (await window.waiting()).some((row) => yes.test(row.replaceAll('\u00a0', ' ').trim()));
  });
}

shareEditor();

ride('a change of three hunks, one of them unticked: the file holds exactly the other two', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('clock.py');
  const agent = await it.agent();
  await agent.call('read_file', { path: 'clock.py' });
  const call = agent.call('write_file', { path: 'clock.py', content: proposed['clock.py'] });
  const dialog = await (await window.dialog(/clock\.py.*proposes/)).drawn();
  await window.chooseHunks(dialog);
  await ticks(window, 3, 3);
  await window.tick('left = left - 1');
  await ticks(window, 2, 3);
  await eventually('the right side has what is left', async () => /left -= 1/.test(await dialog.proposedText()));
  await eventually('the diff is drawn anew', async () => await window.page.locator('.view-lines.line-delete', { hasText: 'left' }).count() === 0);
  await dialog.button('Approve Selected').waitFor();
  assert.match((await window.waiting()).join('\n'), /Approve 2 of 3/);
  await window.rest();
  await window.screenshot('hunks-of-a-change');
  await dialog.proposal.locator('.view-line', { hasText: 'number' }).last().click();
  await window.press('Control+k');
  await window.press('h');
  await ticks(window, 1, 3);
  await window.press('Control+k');
  await window.press('h');
  await ticks(window, 2, 3);
  await dialog.proposal.locator('.view-line', { hasText: '02d' }).hover();
  await window.page.getByRole('button', { name: /^Revert Block/ }).first().click();
  await ticks(window, 1, 3);
  await window.tick(/: return f/);
  await ticks(window, 2, 3);
  await dialog.press('Approve Selected');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.edited_by_human, true, JSON.stringify(result.structured));
  assert.equal(sandbox.read('clock.py'), floats(padded(clock)));
  await eventually('nothing of it stays open', async () => (await window.tabs()).join() === 'clock.py');
});

ride('a patch of five hunks to review: two unticked, a line edited, and the agent gets exactly that', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent('claude-code');
  const diff = patch(texts(files), texts(proposed));
  const call = agent.call('apply_patch_review', { diff, message: 'A leading zero, and some more that I came across.\nTake what you like: the last hunk is a matter of taste.' });
  const dialog = await (await window.dialog(/Review clock\.py \(1 of 2\)/)).drawn('Send to Agent');
  await eventually('the status bar says that it waits', async () => /waiting/.test(await window.status()));
  await window.screenshot('review');
  await window.click(dialog.link('Message'));
  const said = await window.dialog('Claude Code says');
  await eventually('its message is on a page, whole', async () => /came across\.\n[^]*a matter of taste/.test(await said.pageText()));
  await window.screenshot('review-message');
  await said.closeTab();
  await window.chooseHunks(dialog);
  await ticks(window, 5, 5);
  await window.tick('left = left - 1');
  await window.tick(/: return kind/);
  await ticks(window, 3, 5);
  await eventually('the right side has what is left', async () => /left -= 1/.test(await dialog.proposedText()));
  await window.screenshot('review-chosen');
  await window.show(/: .*oolong/);
  const second = await (await window.dialog(/Review tea\.py \(2 of 2\)/)).drawn('Send Selected to Agent');
  const line = (await second.proposedText()).split('\n').findIndex((text) => text.includes('oolong')) + 1;
  await eventually('the cursor is in the line', async () => { // which moves while the diff is laid out
    await second.proposal.locator('.view-line', { hasText: 'oolong' }).click();
    return (await window.page.locator('.part.statusbar').innerText()).includes(`Ln ${line},`);
  });
  await window.press('End');
  await window.type('  # or less');
  await eventually('the row says that the file is edited', async () => (await window.waiting()).some((row) => /tea\.py[^]*edited by you/.test(row)));
  await window.screenshot('review-edited');
  await window.tick('float(number)');
  await ticks(window, 2, 5);
  await window.tick('float(number)');
  await ticks(window, 3, 5);
  await window.tick(/: return kind/);
  await eventually('a tick puts its hunk into what was written', async () => /kind\.upper\(\)/.test(await second.proposedText()) && /# or less/.test(await second.proposedText()));
  await ticks(window, 4, 5);
  await window.tick(/: return kind/);
  await eventually('and takes it out', async () => /kind\.title\(\)/.test(await second.proposedText()) && /# or less/.test(await second.proposedText()));
  await second.press('Send Selected to Agent');
  const { isError, text, structured } = await call;
  assert.equal(isError, false, text);
  assert.equal(structured.action, 'apply');
  assert.equal(structured.chunks_total, 5);
  assert.equal(structured.edited, true);
  assert.equal(sandbox.git('status', '--porcelain'), '', 'a review changes no file');
  sandbox.write('../taken.patch', structured.filtered_diff);
  sandbox.git('apply', '--check', '../taken.patch');
  sandbox.git('apply', '../taken.patch');
  assert.equal(sandbox.read('clock.py'), floats(padded(clock)));
  assert.equal(sandbox.read('tea.py'), oolong(tea).replace('180,', '180,  # or less'));
  await eventually('nothing of it stays open', async () => (await window.tabs()).length === 0);
});

ride('a review is cancelled with a reason; another one closes when the agent gives up', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  const diff = patch(texts(files), texts(proposed));
  const call = agent.call('apply_patch_review', { diff });
  await (await window.dialog(/Review clock\.py/)).write('Cancel with Reason…', 'one thing at a time');
  const { isError, text, structured } = await call;
  assert.equal(isError, false, text);
  assert.equal(structured.action, 'cancel');
  assert.equal(structured.feedback, 'one thing at a time');
  const giveUp = new AbortController();
  const again = agent.call('apply_patch_review', { diff }, { signal: giveUp.signal });
  const dialog = await (await window.dialog(/Review clock\.py/)).drawn('Send to Agent');
  giveUp.abort('the agent gave up');
  await assert.rejects(again);
  await eventually('the review is gone', async () => !(await dialog.isOpen()));
  const ended = await window.dialog('Closed request');
  await eventually('the page says why', async () => /no longer waits for an answer/.test(await ended.pageText()));
  assert.equal(await ended.button('Send to Agent').count(), 0);
  await window.ready();
});

ride('a patch of two files, some of its hunks approved: the files hold exactly those', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('apply_patch', { diff: patch(texts(files), texts(proposed)) });
  const dialog = await (await window.dialog(/clock\.py \(1 of 2\).*proposes/)).drawn();
  await eventually('the row of the other file says that nobody saw it', async () => (await window.boxes()).some((row) => /tea\.py.*not seen yet/.test(row)));
  await window.click(dialog.link('All 2 Files'));
  const both = await (await window.dialog(/^scripted-agent proposes .*\(2 files\)/)).drawn();
  await eventually('the links are there', async () => (await both.links()).filter((title) => title === 'Leave Out').length === 5);
  await eventually('both were seen', async () => !(await window.boxes()).some((row) => /not seen yet/.test(row)));
  await window.rest();
  await window.screenshot('stack');
  await window.chooseHunks(both);
  await ticks(window, 5, 5);
  await window.tick('tea.py');
  await ticks(window, 3, 5);
  await window.tick('oolong');
  await window.tick('float(number)');
  await ticks(window, 3, 5);
  await window.screenshot('hunks-of-a-patch');
  await both.press('Approve Selected');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('clock.py'), counted(padded(clock)));
  assert.equal(sandbox.read('tea.py'), oolong(tea));
});

draftCase(ride, {
  choose: async ({ window }) => {
    await window.command('Pillion: Change an Agent\'s Mode…');
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'a draft that nobody else sees' }).click();
    await eventually('the status bar says so', async () => (await window.page.locator('.part.statusbar').innerText()).includes('is in mode Draft'));
  },
  listed: async ({ window }, words) => {
    await eventually(`a row says ${words}`, async () => (await window.sessions()).some((row) => words.test(row.replaceAll(/\s+/g, ' '))));
  },
  take: async ({ window }, left) => {
    const dialog = await (await window.dialog(/^Draft of scripted-agent: clock\.py/)).drawn('Apply');
    if (left !== undefined) {
      await window.chooseHunks(dialog);
      await window.tick(left);
      await dialog.button('Apply Selected').waitFor();
    }
    await window.rest();
    await window.screenshot(left === undefined ? 'draft-rest' : 'draft-review');
    await dialog.press(left === undefined ? 'Apply' : 'Apply Selected');
  },
});
