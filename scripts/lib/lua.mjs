// The checks of the Neovim plugin's Lua: format, lint, and its unit tests in the real Neovim.
import path from 'node:path';
import { nodeTest } from './runners.mjs';
import { command } from './steps.mjs';

const plugin = 'nvim-plugin';

/** `part` makes a part of the tool chain stand and answers its folder; `files` are the project's. */
export async function luaSteps(steps, part, files) {
  const lua = files.filter((file) => file.startsWith(`${plugin}/`) && file.endsWith('.lua'));
  await steps.run('neovim: format', async () => {
    const tool = part('stylua');
    const write = `node scripts/lua-format.mjs --tool ${tool} --write`;
    await command('node', ['scripts/lua-format.mjs', '--tool', tool, ...lua]).catch(() => { throw new Error(`not formatted, run ${write} with them`); });
  });
  await steps.run('neovim: luacheck', () => command('luacheck', ['--no-color', '--quiet', '.'], { cwd: plugin }));
  await steps.run('neovim: unit tests', (tally) => {
    const run = ['--headless', '-u', 'NONE', '-i', 'NONE', '-n', '-l', path.join(plugin, 'test/run.lua')];
    return nodeTest(path.join(part('neovim'), 'bin/nvim'), run, tally);
  });
}
