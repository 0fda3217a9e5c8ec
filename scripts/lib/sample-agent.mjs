// sample-agent.mjs STEPS: the scripted agent in a terminal inside the editor, in its project, as a person would start one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Agent } from '../../e2e/rig/agent.js';
import { eventually } from '../../e2e/rig/expect.js';
import { rideSample } from './sample-ride.mjs';

const steps = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const registry = path.join(os.homedir(), '.local/state/pillion/relay');
console.log('The sample agent waits for Pillion in this editor…');
try {
  await eventually('Pillion is there', () => fs.readdirSync(registry).some((name) => name.endsWith('.json')), 60_000);
} catch {
  console.error('Pillion did not start here within a minute. :checkhealth pillion, or Pillion: Doctor, says why.');
  process.exit(1);
}
console.log('It is there. The agent begins; its requests appear beside this window.\n');
const agent = await Agent.start({ project: process.cwd(), env: process.env }, 'sample-agent');
await rideSample(agent, steps);
await agent.close();
