// make try-vscode: a real VS Code in your browser, with the extension, on a copy of the sample project; as soon as its
// window is open an agent goes to work, so that dialogs appear; with --gateway URL it is the agent behind that gateway, which
// you connect to. Everything lives in a temporary folder with a home of its
// own, and is gone after Ctrl+C.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { aDay, rideSample, sample } from './lib/sample-ride.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const rig = path.join(root, 'e2e');
const sh = (script, ...args) => execFileSync(path.join(root, 'scripts', script), args, { stdio: ['ignore', 'ignore', 'inherit'] });

console.log('making VS Code and the extension ready; the first time takes some minutes');
sh('setup/code-server.sh');
sh('vsix.sh');
sh('npm-ci.sh', rig);

const { Sandbox } = await import(path.join(rig, 'rig/sandbox.js'));
const { CodeServer } = await import(path.join(rig, 'vscode/code-server.js'));
const { Agent } = await import(path.join(rig, 'rig/agent.js'));
const { eventually } = await import(path.join(rig, 'rig/expect.js'));

const sandbox = Sandbox.empty();
const steps = sample(sandbox.project);
const gateway = process.argv.includes('--gateway') ? process.argv[process.argv.indexOf('--gateway') + 1] : undefined;
const server = await CodeServer.start(sandbox);
server.prepare(gateway ? { 'pillion.gateway.url': gateway } : {});
let agent;
process.once('SIGINT', leave);
process.once('SIGTERM', leave);

console.log(`\nopen this in a browser on this machine:\n\n    ${server.url(sandbox.project)}\n\nand stop with Ctrl+C`);
if (gateway) {
  console.log('\nThere, run the command "Pillion: Connect to a Gateway…", press Enter twice (it needs no token), and say something.');
  await new Promise(() => undefined); // until Ctrl+C
}
const relay = path.join(sandbox.home, '.local/state/pillion/relay'); // where agents look for an editor: one that comes before it is there could ask nobody
await eventually('a window is open', () => fs.existsSync(relay) && fs.readdirSync(relay).some((name) => name.endsWith('.json')), aDay);
agent = await Agent.start(sandbox, 'sample-agent');
await rideSample(agent, steps);
console.log('\nthe agent is done; the window stays until Ctrl+C');

async function leave() {
  console.log('\nclosing');
  await agent?.close();
  await server.stop();
  await sandbox.dispose();
  process.exit(0);
}
