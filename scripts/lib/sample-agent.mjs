// sample-agent.mjs STEPS: the scripted agent in a terminal inside the editor, in its project, as a person would start one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Agent } from '../../e2e/rig/agent.js';
import { eventually } from '../../e2e/rig/expect.js';
import { aDay, rideSample } from './sample-ride.mjs';

const steps = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const registry = path.join(os.homedir(), '.local/state/pillion/relay');
await eventually('the editor is there', () => fs.readdirSync(registry).some((name) => name.endsWith('.json')), aDay);
const agent = await Agent.start({ project: process.cwd(), env: process.env }, 'sample-agent');
await rideSample(agent, steps);
await agent.close();
