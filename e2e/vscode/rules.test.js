/** Rules that outlive a session, in a real VS Code: remembered for the folder, or brought along by the project. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

const question = 'Run a command?';
const page = 'Trust these settings?';
const read = { command: 'cat words.txt' };
const settings = (/** @type {string} */ rule) => JSON.stringify({ permissions: { allow: [rule] } });

shareEditor();

ride('approved always in this folder: no other agent asks for it, also after a restart', commandFiles, async (it) => {
  const { window, sandbox } = it;
  const first = (await it.agent()).call('run_command', read);
  const dialog = await (await window.dialog(question)).drawn();
  await dialog.remember('run_command(cat words.txt)', 'for this workspace');
  assert.equal((await first).structured.exit_code, 0);
  const [sidecar] = sandbox.running(/pillion serve/);
  await window.hasFocus();
  await window.command('Pillion: Restart');
  await eventually('another sidecar runs', () => sandbox.running(/pillion serve/).some((other) => other !== sidecar));
  await window.ready();
  const another = await it.agent('another');
  assert.equal((await another.call('run_command', read)).structured.stdout, commandFiles['words.txt']);
  const other = another.call('run_command', { command: 'cat count.sh' });
  await (await window.dialog(question)).press('Reject');
  assert.equal((await other).isError, true);
  sandbox.write('.pillion/settings.json', JSON.stringify({ permissions: { allow: ['run_command(make *)'], deny: ['delete_file(words.txt)'] } }));
  const written = another.call('write_file', { path: 'a.txt', content: 'a\n' });
  await (await (await window.dialog('a.txt')).drawn()).remember('file_changes', 'Approve all edits for this session');
  assert.equal((await written).isError, false);
  assert.equal((await another.call('write_file', { path: 'b.txt', content: 'b\n' })).isError, false); // nothing asks
  const listed = async () => (await window.rules()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  await eventually('the view has all', async () => /This workspace.*cat words\.txt.*another.*file_changes/.test((await listed()).join(' ')));
  await window.rest();
  await window.screenshot('rules');
  await window.pressInView('cat words.txt', 'Forget', 'Rules');
  await eventually('it is gone', async () => !/cat words/.test((await listed()).join(' ')));
  await window.pressInView('file_changes', 'Forget', 'Rules');
  await eventually('so is that of the session', async () => !/file_changes/.test((await listed()).join(' ')));
  await eventually('those of settings are left', async () => /The project's settings.*delete_file\(words\.txt\).*make/.test((await listed()).join(' ')));
  const forgotten = another.call('run_command', read);
  await (await window.dialog(question)).press('Reject');
  assert.equal((await forgotten).isError, true);
  await window.openRow('make *', 'Rules');
  await window.dialog(page);
  await window.openRow('delete_file', 'Rules');
  await eventually('the settings are in front', async () => /"deny":\["delete_file/.test(await window.editor('settings.json').innerText()));
});

ride('a project\'s rule counts once it is trusted, and not when it changes', { ...commandFiles, '.pillion/settings.json': settings('run_command(cat words.txt)') }, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  await eventually('it is announced', async () => (await window.notifications()).some((text) => /ask for more than you allow/.test(text)));
  const asks = agent.call('run_command', read);
  await (await window.dialog(question)).press('Reject');
  assert.equal((await asks).isError, true);
  await window.show(/Trust the project/);
  const trust = await window.dialog(page);
  await eventually('the page shows the rule', async () => (await trust.pageText()).includes('run_command(cat words.txt)'));
  await window.screenshot('trust');
  await trust.press('Trust These Rules');
  await eventually('the view asks no more', async () => !(await window.waiting()).some((row) => /Trust the project/.test(row)));
  assert.equal((await agent.call('run_command', read)).structured.stdout, commandFiles['words.txt']);
  sandbox.write('.pillion/settings.json', settings('run_command(rm *)'));
  await eventually('the changed file is asked about', async () => (await window.waiting()).some((row) => /Trust the project/.test(row)));
  const again = agent.call('run_command', read);
  await (await window.dialog(question)).press('Reject');
  assert.equal((await again).isError, true);
});

ride('a no to a project\'s rules holds until the file changes, also after a restart', { ...commandFiles, '.pillion/settings.json': JSON.stringify({ permissions: { allow: ['run_command(cat words.txt)', 'run_command(git *)'] } }) }, async (it) => {
  const { window, sandbox } = it;
  const asksForTrust = async () => (await window.waiting()).some((row) => /Trust the project/.test(row));
  await window.show(/Trust the project/);
  const trust = await window.dialog(page);
  await eventually('the page says which rule has no effect', async () => /No effect[^]*run_command\(git \*\)[^]*ignored/.test(await trust.pageText()));
  await window.screenshot('trust-no-effect');
  await trust.press('Ignore These Rules');
  await eventually('the view asks no more', async () => !(await asksForTrust()));
  const [sidecar] = sandbox.running(/pillion serve/);
  await window.command('Pillion: Restart');
  await eventually('another sidecar runs', () => sandbox.running(/pillion serve/).length > 0 && !sandbox.running(/pillion serve/).includes(sidecar));
  await window.ready();
  const asks = (await it.agent()).call('run_command', read);
  await (await window.dialog(question)).press('Reject');
  assert.equal((await asks).isError, true);
  assert.equal(await asksForTrust(), false);
  sandbox.write('.pillion/settings.json', settings('run_command(rm *)'));
  await eventually('the changed file is asked about', asksForTrust);
});
