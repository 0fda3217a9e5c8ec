/** Neovim without the plugin: stock `vim.lsp`, and \`inputlist\` for questions. */
import assert from 'node:assert/strict';
import { eventually, steadily } from '../rig/expect.js';
import { edit, edited, greeting } from '../rig/greeting.js';
import { cases, plainly } from './cases.js';
import { PlainNeovim } from './neovim.js';

cases('Neovim', PlainNeovim.start);

plainly('Neovim: a box that is left without a choice refuses', PlainNeovim.start, async (it) => {
  const call = it.agent.call('edit_file', edit);
  await it.reads();
  await it.editor.terminal.press('Escape');
  assert.equal((await call).structured.error.code, 'USER_REJECTED');
  assert.equal(it.sandbox.read('greet.py'), greeting);
});

plainly('Neovim: typing while a question comes: no key is lost, and none approves', PlainNeovim.start, async (it) => {
  const { terminal } = it.editor;
  let typed = '2\n';
  await terminal.press('G', 'o', '2', 'Enter');
  await eventually('the sidecar knows what is typed', async () => (await it.agent.call('read_file', { path: 'greet.py' })).structured.content.endsWith('2\n\n'));
  const call = it.agent.call('edit_file', edit);
  await steadily('no question takes the keys', async () => {
    await terminal.press('2', 'Enter');
    typed += '2\n';
    return !/Type number/.test(await terminal.screen());
  }, 3000);
  await terminal.press('Escape');
  await it.reads();
  assert.equal(it.sandbox.read('greet.py'), greeting);
  await it.editor.approve();
  const result = await call;
  assert.equal(result.isError, false, result.text);
  await it.holds(`${edited}${typed}\n`, true);
});

plainly('Neovim: what runs is seen as progress, and a command says what there is', PlainNeovim.start, async (it) => {
  const { terminal } = it.editor;
  /** @param {string} line */
  const command = async (line) => {
    await terminal.type(`:${line}`);
    await terminal.press('Enter');
  };
  const call = it.agent.call('run_command', { command: 'until [ -e go ]; do sleep 0.1; done; echo went' });
  await it.reads(/went/);
  await it.editor.approve();
  await eventually('the progress names the agent and what runs', async () => {
    await command('lua print(vim.lsp.status())');
    return /scripted-agent: Run until.*running/s.test(await terminal.screen());
  });
  await command('Pillion status');
  await terminal.sees(/0 requests are waiting for your answer, 1 running/);
  await terminal.press('Enter');
  it.sandbox.write('go', '');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.stdout, 'went\n');
});
