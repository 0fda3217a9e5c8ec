/** A terminal of 80 columns and 24 lines, dark and light: what a person has to see is to be seen there too. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { eventually } from '../rig/expect.js';

const names = ['clock.py', 'tea/leaf.py', 'tea/pot.py', 'tea/water.py', 'README.md'];
const text = (/** @type {string} */ name) => `# ${name}\n${'same = 1\n'.repeat(30)}last = 1\n`;
const changed = (/** @type {string} */ name) => text(name).replace(/^#/, '# the').replace('last = 1', 'last = 2');
const files = Object.fromEntries(names.map((name) => [name, text(name)]));
const patch = names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1,2 +1,2 @@\n-# ${name}\n+# the ${name}\n same = 1\n@@ -31,2 +31,2 @@\n same = 1\n-last = 1\n+last = 2\n`).join('');

takePictures();

for (const background of ['dark', 'light']) {
  ride(`a change of five files, ${background}: what each answer is for, and what was not looked at`, files, async (it) => {
    const { nvim, sandbox } = it;
    const agent = await it.agent('claude-code');
    const call = agent.call('apply_patch', { diff: patch });
    const dialog = await nvim.dialog('5 files');
    await dialog.show();
    await nvim.sees('ga approve 5 files  gr reject  g? keys');
    await nvim.sees('● 4 not looked at');
    nvim.screenshot(`small-files-${background}`);
    await nvim.press(']f');
    await nvim.sees('● 3 not looked at');
    await nvim.press('gh');
    await nvim.sees(/ga approve 9 of 10 {2}gr reject/);
    nvim.screenshot(`small-hunk-${background}`);
    await nvim.press('g?');
    await nvim.sees('the agent goes on without it');
    nvim.screenshot(`small-keys-${background}`);
    await dialog.press('approve');
    assert.equal((await call).isError, false);
    await nvim.sees('Approved: 5 files +9 −9');
    nvim.screenshot(`small-approved-${background}`);
    assert.equal(sandbox.read('clock.py'), changed('clock.py'));
  }, { columns: 80, lines: 24, opened: 'clock.py', setup: look(background) });

  ride(`a command, ${background}: answered, cancelled, paused`, files, async (it) => {
    const { nvim } = it;
    const agent = await it.agent('claude-code');
    const call = agent.call('run_command', { command: 'python3 -m pytest tea' });
    const dialog = await nvim.dialog('python3 -m pytest tea');
    await dialog.show();
    await nvim.sees(/ga run {2}gr reject .*g\? keys/);
    nvim.screenshot(`small-command-${background}`);
    await dialog.press('cancel');
    assert.equal((await call).structured.error.code, 'CANCELLED');
    await nvim.sees(/Claude Code is paused: :Pillion resume$/m);
    await eventually('the statusline says so', async () => /Claude Code paused/.test(await nvim.status()));
    await nvim.sees('Pillion · Claude Code paused');
    nvim.screenshot(`small-paused-${background}`);
    await nvim.command('Pillion resume');
    await nvim.sees('Claude Code goes on');
  }, { columns: 80, lines: 24, opened: 'clock.py', setup: look(background) });
}

/** @param {string} background */
function look(background) {
  return `vim.o.background = '${background}'; vim.o.statusline = "%f %m%=%{v:lua.require'pillion'.statusline()} %l:%c"\n`;
}
