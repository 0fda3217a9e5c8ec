/** From an installed plugin in a bare Neovim to the first approved edit: every key is typed here, and counted. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ride, takePictures } from './ride.js';
import { edit, edited, files } from '../rig/greeting.js';
import { eventually } from '../rig/expect.js';
import { tree } from '../rig/places.js';

const most = 60;

takePictures();

ride(`an agent is connected, started, asked, and its edit approved, in at most ${most} keys`, files, async (it) => {
  const { sandbox } = it;
  const programs = path.join(sandbox.root, 'programs');
  const steps = path.join(sandbox.root, 'steps.json');
  fs.mkdirSync(programs);
  fs.writeFileSync(steps, JSON.stringify([{ Say: 'I greet by name.', Tool: 'edit_file', Arguments: edit }]));
  // An agent that does what it is asked, whatever that is, through Pillion's tools.
  const ride = path.join(tree, 'scripts/lib/sample-agent.mjs');
  fs.writeFileSync(path.join(programs, 'claude'), `#!/bin/sh\nprintf 'What shall I do? '\nread -r wish\nexec ${process.execPath} ${ride} ${steps}\n`, { mode: 0o755 });
  const nvim = await it.begin({ init: `vim.env.PATH = ${JSON.stringify(programs)} .. ':' .. vim.env.PATH\n`, columns: 80, lines: 24 });
  let count = 0;
  const types = async (/** @type {string} */ keys) => {
    count += [...keys.matchAll(/<[^>]+>|./gs)].length;
    await nvim.press(keys);
  };

  await types(':Pillion connect claude<CR>');
  await nvim.sees(/\[y\/N\]/);
  await nvim.sees('pillion://connect claude');
  nvim.screenshot('first-connect');
  await types('y<CR>');
  await nvim.sees(/Process exited 0/);
  await types('q');
  await types(':Pillion agent<CR>');
  await nvim.sees('What shall I do?');
  await types('fix it<CR>');
  await nvim.sees(/wants to edit greet\.py/);
  nvim.screenshot('first-asked');
  await types('<C-Bslash><C-n>');
  await eventually('its tab is there', async () => (await nvim.tabs()).length === 2);
  await types('gt');
  await nvim.sees('ga approve  gr reject');
  await eventually('the user has read it', () => nvim.lua(
    `local one = require('pillion.approvals').all()[1]; return one:is_armed() and require('pillion.front').takes_keys()`));
  nvim.screenshot('first-proposal');
  await types('ga');
  await eventually('the file has it', () => sandbox.read('greet.py') === edited);
  await nvim.sees('Approved: greet.py');
  nvim.screenshot('first-approved');
  assert.ok(count <= most, `${count} keys`);
}, null);
