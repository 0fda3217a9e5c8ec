/** From an installed extension to the first approved edit: every key is typed here, and counted. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '../rig/expect.js';
import { edit, edited, files } from '../rig/greeting.js';
import { tree } from '../rig/places.js';
import { ride, shareEditor } from './ride.js';

const most = 60;

shareEditor();

ride(`an agent is connected, started, asked, and its edit approved, in at most ${most} keys`, files, async (it) => {
  const { window, sandbox } = it;
  const steps = path.join(sandbox.root, 'steps.json');
  fs.writeFileSync(steps, JSON.stringify([{ Say: 'I greet by name.', Tool: 'edit_file', Arguments: edit }]));
  // An agent that does what it is asked, whatever that is, through Pillion's tools.
  const agent = path.join(tree, 'scripts/lib/sample-agent.mjs');
  fs.writeFileSync(path.join(sandbox.home, '.bashrc'), `claude() { printf 'What shall I do? '; read -r wish; ${process.execPath} ${agent} ${steps}; }\n`);
  let count = 0;
  const types = async (/** @type {string} */ text) => {
    count += text.length;
    await window.type(text);
  };
  const presses = async (/** @type {string} */ key) => {
    count += 1;
    await window.press(key);
  };
  const picks = async (/** @type {string} */ text, /** @type {string} */ row) => {
    await types(text);
    await window.page.locator('.quick-input-widget .monaco-list-row.focused', { hasText: row }).waitFor();
    await presses('Enter');
  };
  const runs = async (/** @type {string} */ text, /** @type {string} */ title) => {
    await presses('F1');
    await window.page.locator('.quick-input-widget .quick-input-box input').waitFor();
    await picks(text, title);
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'claude' }).first().waitFor();
    await picks('claude', 'claude');
  };

  await runs('connect an', 'Pillion: Connect an Agent…');
  await (await window.dialog('Connect Claude Code')).drawn('Connect');
  await presses('Control+K');
  await presses('y');
  await window.tab('Claude Code Is Connected').waitFor();
  assert.ok(fs.existsSync(path.join(sandbox.home, '.claude.json')));
  await runs('start an a', 'Pillion: Start an Agent…');
  await eventually('it waits for a wish', async () => /What shall I do\?/.test(await window.terminal()));
  await types('fix it');
  await presses('Enter');
  const dialog = await (await window.dialog(/greet\.py.*proposes/)).drawn();
  await window.screenshot('first-edit');
  await dialog.press('Approve'); // with the mouse
  await eventually('the file has it', () => sandbox.read('greet.py') === edited);
  assert.ok(count <= most, `${count} keys`);
  await window.companion.run('workbench.action.terminal.killAll'); // VS Code keeps them for the next window
});
