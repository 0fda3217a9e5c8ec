// make try-gateway: a scripted agent behind the reference gateway, which mends a copy of the sample project. You talk to it in
// this terminal; with --vscode in a real VS Code in your browser, with --nvim in a real Neovim in this terminal. Everything
// lives in a temporary folder and is gone when you leave.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sample } from './lib/sample-ride.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const ends = [];
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined); // the program in front ends first

const binary = path.join(root, 'bin', 'reference-gateway');
execFileSync('go', ['build', '-buildvcs=false', '-o', binary, './scripts/gateway'], { cwd: root, stdio: 'inherit' });
const gateway = spawn(binary, [], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
ends.push(() => gateway.kill());
const { value: url } = await createInterface({ input: gateway.stdout })[Symbol.asyncIterator]().next();

try {
  if (process.argv.includes('--vscode')) await script('try-vscode.mjs');
  else if (process.argv.includes('--nvim')) await script('try-nvim.mjs');
  else await inTerminal();
} finally {
  for (const end of ends.reverse()) await end();
}

async function inTerminal() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pillion-gateway-'));
  ends.push(() => { fs.rmSync(folder, { recursive: true, force: true }); });
  const project = path.join(folder, 'kettle');
  sample(project);
  await run(path.join(root, 'bin/pillion'), 'chat', '--gateway', url, '-C', project);
}

/** The same editor as of `make try-vscode` and `make try-nvim`, with this agent instead of the one over MCP. */
async function script(name) {
  await run(process.execPath, path.join(root, 'scripts', name), '--gateway', url);
}

async function run(program, ...args) {
  const child = spawn(program, args, { stdio: 'inherit' });
  await new Promise((resolve) => child.once('exit', resolve));
}
