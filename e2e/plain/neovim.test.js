/** Neovim without the plugin: stock `vim.lsp`, and \`inputlist\` for questions. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { HeldWire } from '../neovim/held-wire.js';
import { eventually } from '../rig/expect.js';
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

/** @type {HeldWire} */
let wire;

/** With a wire between the two. @type {import('./cases.js').Start} */
async function wired(sandbox, file) {
  wire = new HeldWire(sandbox);
  return PlainNeovim.start(sandbox, file, { PATH: `${path.dirname(wire.program)}:${sandbox.env.PATH}` });
}

plainly('Neovim: typing while a question comes: no key is lost, and none approves', wired, async (it) => {
  const { terminal } = it.editor;
  wire.hold('window/showMessageRequest'); // one that comes is seen here, and takes no key
  let typed = '';
  const types = async () => {
    await terminal.press('2', 'Enter');
    typed += '2\n';
    await eventually('the sidecar knows', async () => (await it.agent.call('read_file', { path: 'greet.py' })).structured.content === `${greeting}${typed}\n`);
  };
  await terminal.press('G', 'o');
  let since = Date.now(); // the sidecar heard of the last key after that
  await types();
  const call = it.agent.call('edit_file', edit);
  let longest = 0; // that it may have heard of none
  for (let line = 0; line < 10; line++) {
    const next = Date.now();
    await types();
    longest = Math.max(longest, Date.now() - since);
    since = next;
  }
  const asked = wire.frames().some(({ message }) => message.method === 'window/showMessageRequest');
  assert.ok(!asked || longest >= 1000, `it asked, though nobody rested for more than ${longest} ms`);
  await terminal.press('Escape');
  await eventually('the keys are taken', async () => !/-- INSERT --/.test(await terminal.screen()));
  wire.release();
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
  await eventually('the progress is there', async () => /rpc\.receive.*\$\/progress.*running/.test(await it.editor.log()));
  await command('lua print(vim.lsp.status())');
  await terminal.sees(/scripted-agent: .*Run until.*running/s);
  await command('Pillion status');
  await terminal.sees(/0 requests are waiting for your answer, 1 running/);
  await terminal.press('Enter');
  it.sandbox.write('go', '');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.stdout, 'went\n');
});
