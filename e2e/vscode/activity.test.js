/** The view “Activity” in a real VS Code: what a row says, and what a click on it opens. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { edit, edited, files as greetingFiles } from '../rig/greeting.js';
import { ride, shareEditor } from './ride.js';

const files = { ...greetingFiles, ...commandFiles };

shareEditor();

ride('a row leads to its request, then to its diff, its output or its file', files, async (it) => {
  const { window } = it;
  await window.openFile('words.txt');
  const agent = await it.agent('cook');
  const says = (/** @type {RegExp} */ what) => eventually(`a row says ${what}`, async () => (await window.activity()).some((row) => what.test(row.replaceAll(/\s+/g, ' '))));
  const page = async (/** @type {RegExp} */ tab) => window.text((await window.dialog(tab)).page);

  const change = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(/greet\.py.*proposes/)).drawn();
  await says(/Edit greet\.py ?waiting for you · \d\d:\d\d .*cook/);
  await dialog.closeTab();
  await window.openRow('Edit greet.py', 'Activity');
  await (await window.dialog(/greet\.py.*proposes/)).press('Approve');
  assert.equal((await change).isError, false);
  await says(/Edit greet\.py ?\+1 −1 · \d\d:\d\d/);

  await window.openRow('Edit greet.py', 'Activity');
  const diff = await window.dialog(/greet\.py: changed by cook, \d\d:\d\d/);
  await eventually('the diff shows what it changed', async () => await diff.proposedText() === edited);
  await window.screenshot('activity-diff');

  const run = agent.call('run_command', { command: `printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'; sh count.sh; exit 3` });
  await (await (await window.dialog('Run a command?')).drawn()).press('Approve');
  assert.equal((await run).structured.exit_code, 3);
  await window.openRow(/Run printf.*exit code 3/, 'Activity');
  await eventually('its output is on show', async () => /^\$ printf .*\n\nred\n100%\n3\n\nexit code 3\n?$/.test(await page(/Output of printf/)));

  const rejected = agent.call('edit_file', { path: 'greet.py', old_string: 'Hello', new_string: 'Bye' });
  await (await (await window.dialog(/greet\.py.*proposes/)).drawn()).press('Reject');
  assert.equal((await rejected).isError, true);
  assert.equal((await agent.call('edit_file', { path: 'words.txt', old_string: 'omega', new_string: 'psi' })).isError, true);
  await says(/Edit greet\.py ?the user rejected/);
  await says(/Edit file: words\.txt/);
  await agent.call('read_file', { path: 'count.sh' });
  await window.openRow('Read count.sh', 'Activity');
  await window.tab('count.sh').waitFor();
  await window.rest();
  await window.screenshot('activity');
});

ride('a change of several files opens in one editor', files, async (it) => {
  const { window } = it;
  const agent = await it.agent('cook');
  const diff = '--- a/words.txt\n+++ b/words.txt\n@@ -1 +1 @@\n-alpha\n+ALPHA\n--- /dev/null\n+++ b/more.txt\n@@ -0,0 +1 @@\n+delta\n--- a/count.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-wc -l < words.txt\n';
  const call = agent.call('apply_patch', { diff });
  await (await (await window.dialog(/Change|proposes/)).drawn()).press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  await window.openRow(/patched 3 files/, 'Activity');
  await window.tab(/cook, \d\d:\d\d/).waitFor();
  const editor = window.page.locator('.multiDiffEntry');
  await eventually('each file is in it', async () => (await editor.count()) === 3);
  await window.screenshot('activity-files');
});
