/** Real Qwen Code, Gemini CLI and opencode as sub-agents of another agent: the user approves what they do, in `pillion watch`. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { asRunner } from '../rig/agents.js';
import { processesIn } from '../rig/processes.js';
import { inSandbox } from '../rig/ride.js';
import { ScriptedModel } from '../rig/scripted-model.js';
import { Watch } from './watch.js';

/** @typedef {'qwen' | 'gemini' | 'opencode'} Name */
/** @typedef {import('../rig/scripted-model.js').Step} Step */

/** What the model has each do with its own tools: make a file, change one, run a command, and say so. @type {Record<Name, (at: (name: string) => string) => Step[]>} */
const scripts = {
  qwen: (at) => [
    { own: 'write_file', args: { file_path: at('new.txt'), content: 'made\n' } },
    { own: 'read_file', args: { file_path: at('tea.txt') } },
    { own: 'edit', args: { file_path: at('tea.txt'), old_string: 'green', new_string: 'black' } },
    { own: 'run_shell_command', args: { command: 'touch shell.txt', is_background: false } },
  ],
  gemini: (at) => [
    { own: 'write_file', args: { file_path: at('new.txt'), content: 'made\n' } },
    { own: 'replace', args: { file_path: at('tea.txt'), instruction: 'black', old_string: 'green', new_string: 'black' } },
    { own: 'run_shell_command', args: { command: 'touch shell.txt' } },
  ],
  opencode: (at) => [
    { own: 'write', args: { filePath: at('new.txt'), content: 'made\n' } },
    { own: 'read', args: { filePath: at('tea.txt') } },
    { own: 'edit', args: { filePath: at('tea.txt'), oldString: 'green', newString: 'black' } },
    { own: 'bash', args: { command: 'touch shell.txt', description: 'touches' } },
  ],
};

class Task {
  /** @param {Watch} watch @param {ScriptedModel} model */
  constructor(watch, model) {
    this.watch = watch;
    this.model = model;
  }

  /** @param {string} name */
  async keep(name) {
    await this.watch.keep(name);
  }

  async close() {
    await this.watch.close();
    await this.model.close();
  }
}

/** @param {Name} name @param {import('../rig/sandbox.js').Sandbox} sandbox */
async function sit(name, sandbox) {
  const model = await ScriptedModel.start([...scripts[name]((file) => sandbox.path(file)), { say: 'The tea is black now.' }]);
  const settings = path.join(sandbox.home, '.config/pillion/settings.json');
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  fs.writeFileSync(settings, JSON.stringify({ task: { runners: { [name]: asRunner(name, sandbox, model.url) } } }));
  return new Task(await Watch.open(sandbox), model);
}

for (const name of /** @type {Name[]} */ (['qwen', 'gemini', 'opencode'])) {
  inSandbox(`task: ${name} as a sub-agent`, { files: { 'tea.txt': 'green\n' }, sit: (sandbox) => sit(name, sandbox) }, async ({ watch, model }) => {
    const agent = await watch.agent();
    const call = agent.call('task', { agent: name, objective: 'Make the tea black.' });
    await watch.answers(/scripted-agent asks: Give .* a task: Make the tea black/, 'a');
    const asks = `${name}, for scripted-agent asks`;
    if (name === 'opencode') { // it writes files itself, after it has asked
      await watch.answers(new RegExp(`${asks}: Its own tool: .*new\\.txt`), 'a');
      await watch.answers(new RegExp(`${asks}: Its own tool: .*tea\\.txt[^]*black`), 'a');
    } else {
      await watch.answers(new RegExp(`${asks}: Create new\\.txt`), 'a');
      await watch.answers(new RegExp(`${asks}: Replace tea\\.txt[^]*\\+black`), 'a');
    }
    const goesOn = name === 'gemini'; // the others end their turn when their command is rejected
    await watch.answers(new RegExp(`${asks}: Its own tool: touch shell\\.txt`), goesOn ? 'r not now' : 'a');
    const result = await call;
    assert.equal(result.isError, false, result.text);
    assert.equal(watch.sandbox.read('new.txt'), 'made\n');
    assert.equal(watch.sandbox.read('tea.txt'), 'black\n');
    assert.equal(watch.sandbox.exists('shell.txt'), name === 'opencode', 'what the sandbox keeps from writing to the workspace wrote to it');
    assert.deepEqual(processesIn(watch.sandbox.home).filter((running) => /acp/.test(running.command)), []);
    assert.deepEqual({ agent: result.structured.agent, remaining: model.remaining, summary: result.structured.summary }, { agent: name, remaining: 0, summary: 'The tea is black now.' });
  });
}
