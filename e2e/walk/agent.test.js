/** A real agent, Claude Code, with `pillion mcp` as `pillion mcp install` sets it up. A scripted model plays its model; the user answers in `pillion watch`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { run } from '../rig/agents.js';
import { pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';
import { ScriptedModel } from '../rig/scripted-model.js';
import { change, command, files, unwanted } from './story.js';
import { open, person } from './watch.js';

inSandbox('Claude Code: a part approved, an edit refused with a reason, a command approved, the turn reverted', { files, sit: open }, async (it) => {
  const { sandbox } = it;
  const { takesPart, refuses, runs, reverts } = person(it);
  execFileSync(pillion(), ['mcp', 'install', '--yes', 'claude'], { cwd: sandbox.project, env: sandbox.env });
  const model = await ScriptedModel.start([
    { tool: 'read_file', args: { path: 'clock.py' } },
    { tool: 'write_file', args: change },
    { tool: 'edit_file', args: unwanted },
    { tool: 'run_command', args: command },
    { say: 'The seconds have two digits.' },
  ]);
  try {
    const turn = run('claude', sandbox, model.url, 'mend the clock');
    turn.catch(() => undefined); // a failure before it is waited for has more to say
    const text = await takesPart();
    const why = await refuses();
    assert.equal(sandbox.read('clock.py'), text);
    await runs();
    assert.match(await turn, /two digits/);
    assert.equal(sandbox.read('clock.py'), text);
    assert.match(model.transcript, new RegExp(`USER_REJECTED.*${why}`));
    assert.match(model.transcript, /1:05/);
    assert.equal(model.remaining, 0);
    await reverts();
    assert.equal(sandbox.read('clock.py'), files['clock.py']);
  } finally {
    await model.close();
  }
});
