/** An agent that tries again and again to get out of the workspace: told, paused, let go on, and its changes reverted. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { ride } from './ride.js';

/** @param {import('../rig/agent.js').Agent} agent */
async function triesToLeave(agent) {
  for (let time = 0; time < 5; time++) assert.equal((await agent.call('read_file', { path: '/etc/passwd' })).isError, true);
}

ride('it is told and stands in the list; paused it is refused, and its changes are reverted after a look', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', edit)).isError, false);
  await triesToLeave(agent);
  await nvim.sees(/Pillion: scripted-agent tried 5 times .*\(:Pillion\)/);
  await nvim.picker();
  await nvim.sees(/! scripted-agent tried/);
  nvim.screenshot('unusual');
  await nvim.choose(/! scripted-agent tried/);
  await nvim.sees(/Revert its changes: shows a preview/);
  nvim.screenshot('unusual-choices');
  await nvim.choose(/Revert its changes/);
  await nvim.sees('Revert everything that scripted-agent changed?');
  assert.equal(sandbox.read('greet.py'), edited);
  await nvim.revert('greet.py');
  await eventually('its change is reverted', () => sandbox.read('greet.py') === greeting);
  await nvim.command('Pillion pause');
  await nvim.sees('scripted-agent is paused: :Pillion resume');
  assert.equal((await agent.call('read_file', { path: 'greet.py' })).isError, true);
  await nvim.pick(/‖ scripted-agent is paused/);
  await eventually('it may go on', async () => !(await agent.call('read_file', { path: 'greet.py' })).isError);
}, { opened: 'greet.py', setup: `require('pillion').setup({ settings = { mode = 'auto_edit' } })\n` });
