// make try-nvim: a real Neovim in this terminal, with the plugin, on a copy of the sample project; an agent goes to work in
// a window at the bottom, so that questions appear; with --gateway URL it is the agent behind that gateway. It is your own `nvim` if that is 0.10 or newer, but with a home of its
// own. Everything lives in a temporary folder and is gone when you leave.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sample } from './lib/sample-ride.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const rig = path.join(root, 'e2e');

if (!process.stdin.isTTY || !process.stdout.isTTY) {
  console.error('make try-nvim needs a terminal: run it in one, without a pipe.');
  process.exit(1);
}
const gateway = process.argv[process.argv.indexOf('--gateway') + 1];
const byGateway = process.argv.includes('--gateway');
const nvim = ownNeovim() ?? partNeovim();
console.log('Getting the sample project and its agent ready…');
execFileSync(path.join(root, 'scripts/npm-ci.sh'), [rig], { stdio: ['ignore', 'ignore', 'inherit'] });

const { Sandbox } = await import(path.join(rig, 'rig/sandbox.js'));
const { environment } = await import(path.join(rig, 'neovim/neovim.js'));

const sandbox = Sandbox.empty();
const steps = path.join(sandbox.root, 'steps.json');
fs.writeFileSync(steps, JSON.stringify(sample(sandbox.project)));
configure();

// Neovim has the terminal and its keys: Ctrl+C is for it alone, and a terminal that is closed ends it first.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
const terminal = Object.fromEntries(['TERM', 'COLORTERM'].map((name) => [name, process.env[name]]).filter(([, value]) => value));
const env = { ...environment(sandbox), ...terminal, PILLION_SAMPLE_STEPS: steps, PILLION_SAMPLE_AGENT: path.join(root, 'scripts/lib/sample-agent.mjs') };
console.log(`Starting ${nvim} in ${sandbox.project}: the agent works in the window at the bottom, and its first request comes within seconds.`);
const child = spawn(nvim, ['kettle/clock.py'], { cwd: sandbox.project, env, stdio: 'inherit' });
const failure = await new Promise((resolve) => {
  child.once('error', (error) => resolve(error.message));
  child.once('exit', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)));
});
if (failure) {
  console.error(`Neovim did not end well: ${failure}`);
  process.exitCode = 1;
} else {
  console.log(sandbox.git('diff', '--stat').trimEnd() || 'nothing was changed');
}
await sandbox.dispose();

/** The user's own, when it is new enough. */
function ownNeovim() {
  try {
    const [, major, minor] = /^NVIM v(\d+)\.(\d+)/.exec(execFileSync('nvim', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return Number(major) > 0 || Number(minor) >= 10 ? 'nvim' : undefined;
  } catch {
    return undefined;
  }
}

function partNeovim() {
  console.log('Getting Neovim ready; the first time takes some seconds…');
  const part = execFileSync(path.join(root, 'scripts/setup/neovim.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return path.join(part.trim(), 'bin/nvim');
}

/** What a user would write, and the agent's window. */
function configure() {
  const folder = path.join(sandbox.home, '.config/nvim');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'init.lua'), `vim.opt.rtp:prepend(${JSON.stringify(path.join(root, 'nvim-plugin'))})
vim.o.statusline = "%f %m%=%{v:lua.require'pillion'.statusline()}  %l,%c "
vim.o.showtabline = 2
${byGateway ? talk() : work()}
`);
}

/** The conversation with the agent of the gateway. */
function talk() {
  return `require('pillion').setup({ settings = { gateway = { url = ${JSON.stringify(gateway)} } } })
vim.api.nvim_create_autocmd('User', {
  pattern = 'PillionState',
  callback = function(event)
    if event.data.state == 'ready' then
      vim.schedule(function() vim.cmd('Pillion gateway') end)
    end
  end,
})`;
}

/** The window of the agent that comes over MCP. */
function work() {
  return `vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.cmd('botright 12split | enew')
    vim.fn.termopen({ ${JSON.stringify(process.execPath)}, vim.env.PILLION_SAMPLE_AGENT, vim.env.PILLION_SAMPLE_STEPS })
    vim.cmd('normal! G')
    vim.wo.statusline = ' the agent, at work through this Neovim    (gt: the next tab    :Pillion    :qa! to leave)'
    vim.cmd('wincmd p')
  end,
})`;
}
