/** Real agents read a long file by `pillion mcp`: what their model gets is whole, with the words that say how to go on. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { agents, run } from '../rig/agents.js';
import { pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';
import { ScriptedModel } from '../rig/scripted-model.js';

const numbered = (/** @type {number} */ count, /** @type {string} */ more) => Array.from({ length: count }, (_, i) => `line ${i + 1} of the file${more}\n`).join('');
const files = { 'many.txt': numbered(5000, ''), 'long.txt': numbered(2000, ' with words behind it that make it as long as lines of code are') };

/** @param {string} transcript what the model was sent @returns {number} how many lines reached it, from the first on */
function reached(transcript) {
  let n = 0;
  while (transcript.includes(`line ${n + 1} of the file`)) n += 1;
  return n;
}

for (const agent of agents) {
  inSandbox(`${agent}: pages and an exact range reach the model whole`, { files, sit: (sandbox) => ({ sandbox, keep: async () => {}, close: async () => {} }) }, async ({ sandbox }) => {
    execFileSync(pillion(), ['mcp', 'install', '--yes', agent], { cwd: sandbox.project, env: sandbox.env });
    const reads = [{ path: 'many.txt' }, { path: 'long.txt' }, { path: 'long.txt', start_line: 1, end_line: 400 }];
    for (const args of reads) {
      const model = await ScriptedModel.start([{ tool: 'read_file', args }, { say: 'read' }]);
      try {
        await run(agent, sandbox, model.url, 'read it');
        const said = /lines 1 to ([\d,]+) of/.exec(model.transcript);
        assert.ok(said, `${JSON.stringify(args)}: the closing words are lost: ${model.transcript.slice(-600)}`);
        assert.equal(reached(model.transcript), Number(said[1]?.replace(',', '')), JSON.stringify(args));
        if (agent === 'gemini') assert.ok(model.offered.some((name) => name.includes('fetch_url')), `without a terminal it offers ${model.offered.join(' ')}`);
      } finally {
        await model.close();
      }
    }
  });
}
