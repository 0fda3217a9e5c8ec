/** What an agent leaves running, in a real VS Code: watched in a terminal, typed into, stopped. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

const files = {
  'words.txt': 'alpha\n',
  // It takes no notice of TERM: only its real end counts.
  'serve.sh': 'printf "\\033[32mready\\033[0m on port 80\\n\\033]0;not your title\\007"\nwhile read -r line; do echo "got $line"; done\necho closing\nsleep 985\n',
  'tick.sh': 'i=0\nwhile :; do i=$((i+1)); echo "tick $i"; sleep 0.2; done\n',
};
const question = 'Start a process?';

shareEditor();

ride('a process is watched in a terminal, typed into there, and stopped from the view', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  await window.openFile('words.txt');
  const started = agent.call('run_persistent', { command: 'sh serve.sh', process_id: 'web', ready_pattern: 'ready' });
  const dialog = await (await window.dialog(question)).drawn();
  assert.match(await dialog.pageText(), /wants to start a process/);
  assert.match(await dialog.pageText(), /Process\s+web/);
  await window.screenshot('process-asks');
  await dialog.press('Approve');
  assert.equal((await started).structured.ready, true);
  await eventually('the view lists it', async () => (await window.processes()).some((row) => /web/.test(row) && /running/.test(row)));
  assert.equal(await window.page.locator('.part.panel').isVisible(), false, 'no terminal came to the front with it');

  await window.openProcess('web');
  await eventually('the terminal shows what it printed', async () => /ready on port 80/.test(await window.terminal()));
  assert.match(await window.terminal(), /^\$ sh serve\.sh\nscripted-agent started this as web/);
  assert.doesNotMatch(await window.terminal(), /not your title/);
  await window.type('hello there');
  await eventually('what one types is on the screen', async () => /› hello there/.test(await window.terminal()));
  await window.press('Enter');
  await eventually('it answers', async () => /\nhello there\ngot hello there/.test(await window.terminal()));
  const read = await agent.call('read_process', { process_id: 'web' });
  assert.match(read.structured.output, /got hello there/, 'the agent reads the same');
  await window.screenshot('process-terminal');

  await window.pressAtProcess('web', 'Stop');
  await eventually('it has ended', () => sandbox.running(/serve\.sh|sleep 985/).length === 0);
  await eventually('the terminal says so', async () => /\[ended with exit code \d+\]/.test(await window.terminal()));
  await eventually('the view says so', async () => (await window.processes()).some((row) => /web/.test(row) && /ended with exit code/.test(row)));
  await window.screenshot('process-ended');
  assert.equal((await agent.call('list_processes', {})).structured.processes[0].running, false);
});

ride('closing its terminal stops a process, hiding the panel does not; what it printed can be opened again', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const started = agent.call('run_persistent', { command: 'sh tick.sh', process_id: 'ticks' });
  await (await window.dialog(question)).press('Approve');
  await started;
  await window.command('Pillion: Processes…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'ticks' }).click();
  await eventually('it ticks in the terminal', async () => /tick \d+\n/.test(await window.terminal()));
  await window.command('workbench.action.closePanel');
  await window.page.locator('.part.panel').waitFor({ state: 'hidden' });
  const ticks = async () => Number(/.*tick (\d+)/s.exec((await agent.call('read_process', { process_id: 'ticks' })).structured.output)?.[1]);
  const before = await ticks();
  await eventually('it goes on', async () => await ticks() > before);
  await window.openProcess('ticks');
  await eventually('it is on show', async () => /tick \d+/.test(await window.terminal()));
  await window.command('workbench.action.terminal.kill');
  await eventually('it has ended', () => sandbox.running(/tick\.sh/).length === 0);
  await eventually('the view says so', async () => (await window.processes()).some((row) => /ended/.test(row)));
  await window.openProcess('ticks');
  await eventually('its text is there, and its end', async () => /tick \d+\n\[ended with exit code/.test(await window.terminal()));
  await agent.close();
});

ride('a command that takes long goes on in the background, and ends with its agent', files, async (it) => {
  const { window, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh tick.sh', background_after: 1 });
  await (await window.dialog('Run a command?')).press('Approve');
  const { structured } = await call;
  assert.match(structured.stdout, /tick 1\n/);
  await eventually('the view lists it', async () => (await window.processes()).some((row) => row.includes(structured.process_id)));
  await window.openProcess(structured.process_id);
  await eventually('it ticks on in the terminal', async () => /tick \d\d/.test(await window.terminal()));
  await agent.close();
  await eventually('it has ended', () => sandbox.running(/tick\.sh/).length === 0);
  await eventually('the terminal says so', async () => /\[ended/.test(await window.terminal()));
});
