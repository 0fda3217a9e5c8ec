/**
 * Claude Code, Codex and Qwen Code, the real programs, offline: after `pillion mcp install` each does a small task through
 * the Neovim that is open on its folder. A scripted model plays the model; a person approves in Neovim.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { ride, takePictures } from './ride.js';
import { run } from '../rig/agents.js';
import { pillion } from '../rig/places.js';
import { ScriptedModel } from '../rig/scripted-model.js';

const files = { 'add.py': 'def add(a, b):\n    return a - b\n', 'test.sh': 'python3 -c "from add import add; assert add(2, 3) == 5; print(\'all good\')"\n' };
const fixed = files['add.py'].replace('a - b', 'a + b');
const task = [
  { tool: 'read_file', args: { path: 'add.py' } },
  { tool: 'edit_file', args: { path: 'add.py', old_string: 'a - b', new_string: 'a + b' } },
  { tool: 'run_command', args: { command: 'sh test.sh' } },
  { say: 'The sum is right now.' },
];

takePictures();

for (const name of /** @type {const} */ (['claude', 'codex', 'qwen'])) {
  ride(`${name} mends a function and runs its test`, files, async (it) => {
    const { nvim, sandbox } = it;
    execFileSync(pillion(), ['mcp', 'install', '--yes', name], { cwd: sandbox.project, env: sandbox.env });
    const model = await ScriptedModel.start(task);
    try {
      const turn = run(name, sandbox, model.url, 'mend add.py');
      const proposal = await nvim.dialog('add.py');
      await proposal.show();
      nvim.screenshot(`agent-${name}-edit`);
      await proposal.answer('approve');
      const question = await nvim.dialog('sh test.sh');
      await question.show();
      nvim.screenshot(`agent-${name}-command`);
      await question.answer('approve');
      const said = await turn;
      assert.match(said, /The sum is right now\./);
      assert.equal(sandbox.read('add.py'), fixed);
      assert.deepEqual(await nvim.lines('add.py'), fixed.trimEnd().split('\n'));
      assert.equal(model.remaining, 0);
      assert.match(model.transcript, /return a - b/, 'the model was shown the file');
      assert.match(model.transcript, /all good/, 'the model was shown the output of the test');
    } finally {
      await model.close();
    }
  }, { opened: 'add.py' });
}
