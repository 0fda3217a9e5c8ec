/** Real agents read long files by `pillion mcp`: what their model gets is whole, with the words that say how to go on. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { agents, run } from '../rig/agents.js';
import { pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';
import { ScriptedModel } from '../rig/scripted-model.js';

const words = ' with words behind it that make it as long as lines of code are';
const lines = (/** @type {string} */ word, /** @type {number} */ count, more = '') => Array.from({ length: count }, (_, i) => `${word} ${i + 1} of the file${more}\n`).join('');
const files = { 'short.txt': lines('short', 5000), 'long.txt': lines('long', 2000, words), 'exact.txt': lines('exact', 2000, words) };
const reads = [{ path: 'short.txt' }, { path: 'long.txt' }, { path: 'exact.txt', start_line: 1, end_line: 400 }];

/** How many lines reached the model, from the first on. @param {string} transcript what it was sent @param {string} word of the lines */
function reached(transcript, word) {
  let n = 0;
  while (transcript.includes(`${word} ${n + 1} of the file`)) n += 1;
  return n;
}

for (const agent of agents) {
  inSandbox(`${agent}: pages and an exact range reach the model whole`, { files, sit: (sandbox) => ({ sandbox, keep: async () => {}, close: async () => {} }) }, async ({ sandbox }) => {
    execFileSync(pillion(), ['mcp', 'install', '--yes', agent], { cwd: sandbox.project, env: sandbox.env });
    const model = await ScriptedModel.start([...reads.map((args) => ({ tool: 'read_file', args })), { say: 'read' }]);
    try {
      await run(agent, sandbox, model.url, 'read it');
      const said = [...model.transcript.matchAll(/lines 1 to ([\d,]+) of/g)].map((match) => Number(match[1]?.replace(',', '')));
      assert.deepEqual(said, ['short', 'long', 'exact'].map((word) => reached(model.transcript, word)), 'what is said of the lines is what came of them');
      if (agent === 'gemini') assert.ok(model.offered.some((/** @type {string} */ name) => name.includes('fetch_url')), `without a terminal it offers ${model.offered.join(' ')}`);
    } finally {
      await model.close();
    }
  });
}
