/** An editor that speaks LSP and knows nothing of Pillion: stock `vim.lsp`, with what docs/editors.md tells to paste. Its boxes take no part of a change, and no reason. */
import fs from 'node:fs';
import path from 'node:path';
import { Agent } from '../rig/agent.js';
import { Ride } from '../plain/cases.js';
import { PlainNeovim } from '../plain/neovim.js';
import { eventually } from '../rig/expect.js';
import { inSandbox } from '../rig/ride.js';
import { change, files, walk } from './story.js';

/** @param {import('../rig/sandbox.js').Sandbox} sandbox */
const sit = async (sandbox) => new Ride(sandbox, await PlainNeovim.start(sandbox, 'clock.py'), new Agent(sandbox, 'scripted-agent'));

inSandbox('a plain LSP client: a change approved, an edit refused, a command approved, the turn reverted', { files, sit }, async ({ sandbox, agent, editor }) => {
  const registry = path.join(sandbox.home, '.local/state/pillion/relay');
  await eventually('the editor has started the sidecar', () => fs.readdirSync(registry).some((name) => name.endsWith('.json')));
  await agent.connect();
  await eventually('the sidecar knows the open file', async () => (await agent.call('read_file', { path: 'clock.py' })).structured.source === 'buffer');
  /** @param {RegExp} about */
  const reads = async (about) => {
    await editor.look?.(about);
    await editor.terminal.sees(/Type number/);
  };
  await walk(agent, {
    sandbox,
    takesPart: async () => {
      await reads(/left = left - 1/);
      await editor.approve();
      return change.content;
    },
    refuses: async () => {
      await reads(/BREAK = 30/);
      await editor.refuse();
      return '';
    },
    runs: async () => {
      await reads(/sh test\.sh/);
      await editor.approve();
    },
    reverts: async () => {
      await editor.terminal.type(':Pillion revertTurn');
      await editor.terminal.press('Enter');
    },
  });
});
