/** What agents leave running, in a real Neovim: watched in a buffer, typed into, stopped; and gone when it should be. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { ride, takePictures } from './ride.js';

/** Colours, a title, the clipboard and a question to the terminal; then an echo. */
const serve = `printf '\\033[32mready\\033[0m on port 8080\\n\\033]0;title\\007\\033]52;c;cm0gLXJm\\007\\033[6n'
while read -r line; do echo "got $line"; done
`;
const files = { 'words.txt': 'alpha\n', 'serve.sh': serve, 'tick.sh': 'echo tick; sleep 984; echo tock\n' };
const dev = { command: 'sh serve.sh', process_id: 'dev', ready_pattern: 'ready' };

takePictures();

/** The agent starts it and the user says yes. @param {import('./ride.js').Ride} it */
async function started(it) {
  const agent = await it.agent();
  const call = agent.call('run_persistent', dev);
  await (await it.nvim.dialog('sh serve.sh')).answer('approve');
  const { structured } = await call;
  assert.equal(structured.ready, true, JSON.stringify(structured));
  return agent;
}

/** @param {import('./neovim.js').Neovim} nvim */
async function watch(nvim) {
  await nvim.command('Pillion processes');
  await nvim.choose(/dev {2}sh serve\.sh/);
  await nvim.choose(/Show its output/);
  await nvim.sees('ready on port 8080');
}

/** @param {import('./ride.js').Ride} it */
const gone = (it) => eventually('the process is gone', () => it.sandbox.running(/serve\.sh/).length === 0);

ride('a process that stays: asked about as such, watched in a buffer, typed into, stopped with a key', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_persistent', dev);
  const dialog = await nvim.dialog('sh serve.sh');
  await dialog.show();
  await nvim.sees('wants to start a process');
  await nvim.sees(/Process +dev: runs until it ends/);
  nvim.screenshot('process-question');
  await dialog.answer('approve');
  assert.equal((await call).structured.ready, true);

  await eventually('the status line counts it', async () => /Pillion · 1 process$/.test(await nvim.status()));
  await nvim.settled();
  assert.equal(await nvim.lua('return #vim.api.nvim_list_wins()'), 1, 'it has taken no window');
  await watch(nvim);
  assert.deepEqual(await nvim.lines(), ['ready on port 8080', '']);
  await nvim.press('i');
  await nvim.sees('To dev:');
  await nvim.type('hello\n');
  await nvim.sees('got hello');
  nvim.screenshot('process');
  assert.match((await agent.call('read_process', { process_id: 'dev' })).structured.output, /got hello\n/);

  await nvim.press('gK');
  await nvim.sees(/It ended with exit code \d+\./);
  await gone(it);
  assert.equal((await agent.call('read_process', { process_id: 'dev' })).structured.running, false);
  await eventually('nothing is counted', async () => !/process/.test(await nvim.status()));
  nvim.screenshot('process-ended');
});

ride('what it prints while the user types goes to its buffer, and their keys to theirs', files, async (it) => {
  const { nvim } = it;
  const agent = await started(it);
  await nvim.press('i');
  for (const word of ['one', 'two', 'three']) {
    await agent.call('write_process', { process_id: 'dev', input: `${word}\n` });
    await nvim.type(`${word} `);
  }
  await nvim.press('<Esc>');
  await eventually('all was typed', async () => (await nvim.lines('words.txt'))[0] === 'one two three alpha');
  await watch(nvim);
  await nvim.sees('got three');
}, { opened: 'words.txt' });

ride('the agent reads, lists and ends its own; the user sees how it ended', files, async (it) => {
  const { nvim } = it;
  const agent = await started(it);
  assert.equal((await agent.call('list_processes', {})).structured.processes[0].process_id, 'dev');
  await watch(nvim);
  assert.equal((await agent.call('kill_process', { process_id: 'dev' })).structured.running, false);
  await nvim.sees(/It ended with exit code \d+\./);
  await gone(it);
});

ride(':Pillion kill stops it; :Pillion processes still shows what it printed', files, async (it) => {
  const { nvim } = it;
  await started(it);
  await nvim.command('Pillion kill dev');
  await nvim.sees(/dev was stopped/);
  await gone(it);
  await nvim.command('Pillion processes');
  await nvim.choose(/dev {2}sh serve\.sh .* exit code/);
  await nvim.sees('ready on port 8080');
});

ride('what a command prints reaches the agent while it runs', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  let heard = '';
  const command = 'echo first; while [ ! -e go ]; do sleep 0.1; done; echo second';
  const call = agent.call('run_command', { command }, { onprogress: ({ message = '' }) => (heard += message) });
  await (await nvim.dialog('echo first')).answer('approve');
  await eventually('the first line is heard', () => heard.includes('first\n'));
  assert.equal(heard.includes('second\n'), false);
  await eventually('the status line names it', async () => /Pillion: Run echo first/.test(await nvim.status()));
  sandbox.write('go', '');
  assert.equal((await call).structured.stdout, 'first\nsecond\n');
});

ride('a command that takes long goes on in the background, where the user watches and stops it', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh tick.sh', background_after: 1 });
  await (await nvim.dialog('sh tick.sh')).answer('approve');
  const { structured } = await call;
  assert.match(structured.stdout ?? '', /tick/, JSON.stringify(structured));
  await eventually('it is counted', async () => /1 process/.test(await nvim.status()));
  await nvim.command('Pillion processes');
  await nvim.choose(new RegExp(`▸ ${structured.process_id} {2}sh tick\\.sh`));
  await nvim.choose(/Show its output/);
  await nvim.sees(/^tick$/m);
  await nvim.command(`Pillion kill ${structured.process_id}`);
  await nvim.sees(/It ended with exit code/);
  await eventually('it is gone', () => it.sandbox.running(/sleep 984/).length === 0);
});

ride('a process ends with its agent, and says so', files, async (it) => {
  const agent = await started(it);
  await watch(it.nvim);
  await agent.close();
  await it.nvim.sees(/It ended/);
  await gone(it);
});

ride('a process ends with Neovim', files, async (it) => {
  await started(it);
  assert.equal(it.sandbox.running(/serve\.sh/).length > 0, true);
  await it.nvim.close();
  await gone(it);
});

ride('a process ends with a Neovim that is killed', files, async (it) => {
  await started(it);
  await it.nvim.kill();
  await gone(it);
});

ride('a flood is no burden: keys are taken, and the last is seen', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const line = 'x'.repeat(99);
  const call = agent.call('run_persistent', { command: `yes ${line} | head -c 50000000; echo the end of it; sleep 1000`, process_id: 'flood' });
  await (await nvim.dialog('head -c 50000000')).answer('approve');
  await call;
  await nvim.command('Pillion processes');
  await nvim.choose(/flood/);
  await nvim.choose(/Show its output/);
  await nvim.command("echo 'keys are taken'");
  await nvim.sees('keys are taken');
  await nvim.sees('the end of it');
  await nvim.command('Pillion kill flood');
  await nvim.sees(/flood was stopped/);
});
