/**
 * The forms of the agents' own programs, where no editor is open: what stands in them before anything can be approved, and
 * what keys answer them. Real Claude Code and real Codex in a terminal of 80 columns and 24 lines.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Terminal } from '../plain/terminal.js';
import { inTerminal, run } from '../rig/agents.js';
import { eventually, patience } from '../rig/expect.js';
import { artifacts, pillion } from '../rig/places.js';
import { kill, processesIn } from '../rig/processes.js';
import { inSandbox } from '../rig/ride.js';
import { ScriptedModel } from '../rig/scripted-model.js';

/** @typedef {[key: string, then: RegExp][]} Keys keys, and what the screen shows when each was taken, and not before */

/** How each program's form is answered by keys: from its first field on, and after a text was typed.
 * @type {Record<'claude' | 'codex', {ready: RegExp, form: RegExp, approve: Keys, reject: Keys, send: Keys}>} */
const programs = {
  claude: {
    ready: /❯/, form: /requests your input/,
    approve: [['Right', /Space to select/], ['Down', /❯ ◯ Run/], ['Space', /▸ Run/], ['Down', /❯ Accept/], ['Enter', /That is all/]],
    reject: [['Right', /❯ ◯ Reject/], ['Space', /▸ Reject/], ['Down', /❯ Accept/], ['Enter', /What should the agent know/]],
    send: [['Enter', /❯ Accept/], ['Enter', /That is all/]],
  },
  codex: {
    ready: /Ask Codex|›/, form: /enter to submit/,
    approve: [['Down', /› 2\. Run/], ['Enter', /That is all/]], reject: [['Enter', /What should the agent know/]], send: [['Enter', /That is all/]],
  },
};

class Turn {
  /** @type {Terminal | undefined} */
  terminal;
  /** Where the user watches. @type {Terminal | undefined} */
  watch;
  /** @type {ScriptedModel | undefined} */
  model;

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  constructor(sandbox) {
    this.sandbox = sandbox;
  }

  /** @param {keyof typeof programs} name @param {string} command */
  begin(name, command) {
    return this.calls(name, 'run_command', { command });
  }

  /** @param {keyof typeof programs} name @param {string} tool @param {object} args */
  async calls(name, tool, args) {
    execFileSync(pillion(), ['mcp', 'install', '--yes', name], { cwd: this.sandbox.project, env: this.sandbox.env });
    const model = this.model = await ScriptedModel.start([{ tool, args }, { say: 'That is all.' }]);
    const { command: line, env } = inTerminal(name, this.sandbox, model.url);
    const terminal = this.terminal = await Terminal.start(this.sandbox, line, env, { columns: 80, rows: 24 });
    await terminal.sees(programs[name].ready);
    // Before that there is nothing to offer, and keys are dropped.
    await eventually('its server is started', () => this.sandbox.running(/pillion mcp/).length > 0);
    for (let asked = 0; model.remaining === 2; asked = model.requests.length) {
      await terminal.type('go on');
      await terminal.sees(/go on/);
      await terminal.press('Enter');
      await eventually('the prompt is taken', () => model.requests.length > asked);
      if (model.remaining === 2) await terminal.sees(/no tool \w+ was offered/); // not yet
    }
    return terminal;
  }

  /** What the model was told of its call. */
  async told() {
    const { model } = this;
    await eventually('the model is told', () => model?.remaining === 0);
    return /** @type {ScriptedModel} */ (model).transcript;
  }

  /** What is on the screen. @param {string} name */
  async picture(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    fs.writeFileSync(path.join(artifacts, `forms-${name}.txt`), await /** @type {Terminal} */ (this.terminal).screen());
  }

  /** @param {string} name */
  async keep(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    const screen = await this.terminal?.screen().catch(String);
    fs.writeFileSync(path.join(artifacts, `failed-forms-${name.replace(/\W+/g, '-').slice(0, 80)}.txt`), `${screen}\n${this.model?.transcript}`);
  }

  async close() {
    await this.watch?.close();
    await this.terminal?.close();
    await this.model?.close();
    // Codex leaves a server of its own, which takes its time to end.
    for (const { pid, command } of processesIn(this.sandbox.home)) if (/app-server/.test(command)) kill(pid);
  }
}

/** @param {string} name @param {(it: Turn) => Promise<void>} body */
const forms = (name, body) => inSandbox(`forms: ${name}`, { files: { 'a.txt': 'one\n', 'long.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n' }, sit: (sandbox) => new Turn(sandbox) }, body);

/**
 * Presses each key, and waits until it is taken. Claude Code drops what comes between its drawing of a form and its listening to
 * it; it listens when it draws that once more, in another width, and now and then not even then. So a key that changed nothing
 * in a tenth of the patience is lost, and is pressed again after the next drawing.
 * @param {keyof typeof programs} name @param {Terminal} terminal @param {Keys} keys
 */
async function answer(name, terminal, keys) {
  for (const [key, then] of keys) {
    const most = name === 'claude' ? 3 : 1;
    for (let tries = most; tries > 0; tries--) {
      if (name === 'claude') await drawnAnew(terminal);
      if (tries < most && then.test(await terminal.screen())) break; // it was only late
      await terminal.press(key);
      if (tries === 1) await terminal.sees(then);
      else if (await terminal.sees(then, patience / 10).then(() => true, () => false)) break;
    }
  }
}

/**
 * Until it has drawn for another width and for this one again. Of two changes in a row it may take up one alone.
 * @param {Terminal} terminal
 */
async function drawnAnew(terminal) {
  for (let tries = 5; ; tries--) {
    let drawn = true;
    for (const columns of [79, 80]) {
      await terminal.resize(columns, 24);
      const lines = terminal.sees(new RegExp(`^─{${columns}}$`, 'm'), tries > 1 ? patience / 10 : patience);
      if (tries === 1) await lines;
      else drawn = await lines.then(() => drawn, () => false);
    }
    if (drawn) return;
  }
}

for (const name of /** @type {const} */ (['claude', 'codex'])) {
  const { form, approve, reject, send } = programs[name];

  forms(`${name} approves a command by keys alone`, async (it) => {
    const terminal = await it.begin(name, 'printf %s-%s left right | tee out.txt');
    const screen = await terminal.sees(form);
    assert.match(screen, /\$ printf %s-%s left right \| tee out\.txt/);
    assert.doesNotMatch(screen, /Reason/, 'the decision alone is asked');
    await answer(name, terminal, approve);
    assert.match(await it.told(), /left-right/, 'what the command printed');
    assert.equal(it.sandbox.read('out.txt'), 'left-right');
  });

  forms(`${name} passes on why a command was rejected, every line of which was seen`, async (it) => {
    const terminal = await it.begin(name, 'cd src && make build\nrm -rf build/out\ncurl http://127.0.0.1:9/ | sh');
    const screen = await terminal.sees(form);
    for (const line of [/\$ cd src && make build/, /rm -rf build\/out/, /curl http:\/\/127\.0\.0\.1:9\/ \| sh/]) assert.match(screen, line);
    await answer(name, terminal, reject);
    await terminal.sees(/What should the agent know/);
    await terminal.type('keep the build');
    await terminal.sees(/keep the build/);
    await answer(name, terminal, send);
    assert.match(await it.told(), /USER_REJECTED.*keep the build/);
  });
}

forms('claude shows a long line broken, and is not asked what it would cut', async (it) => {
  const long = `echo ${'abcdefghij'.repeat(15)}`;
  const terminal = await it.begin('claude', long);
  const screen = await terminal.sees(programs.claude.form);
  const shown = screen.split('\n').map((line) => line.trim()).join('').replaceAll('↪ ', '');
  assert.ok(shown.includes(long), screen);
  assert.match(screen, /↪ /, 'broken by Pillion, not by the terminal');
  await terminal.press('Escape');
  await terminal.sees(/That is all/);
});

forms('claude shows an edit in two places in parts, of which the last one decides', async (it) => {
  const terminal = await it.calls('claude', 'edit_file', { path: 'long.txt', edits: [{ old_string: 'one\ntwo', new_string: '1' }, { old_string: 'nine', new_string: '9' }] });
  const first = await terminal.sees(/Part 1 of 2: ▸ Show the next part/);
  for (const line of [/edit long\.txt, \+2 -3/, /line 1:/, /-one/, /-two/]) assert.match(first, line);
  assert.doesNotMatch(first, /more lines/);
  await it.picture('claude-part-1');
  await answer('claude', terminal, [['Down', /❯ Accept/], ['Enter', /Part 2 of 2: Decision/]]);
  assert.match(await terminal.screen(), /\+1[^]*line 8:[^]*-nine[^]*\+9/);
  await it.picture('claude-part-2');
  const keys = programs.claude.approve.map((/** @type {Keys[number]} */ [key, then]) => /** @type {Keys[number]} */ ([key, /Run/.test(then.source) ? new RegExp(then.source.replace('Run', 'Approve')) : then]));
  await answer('claude', terminal, keys);
  await it.told();
  assert.equal(it.sandbox.read('long.txt'), '1\nthree\nfour\nfive\nsix\nseven\neight\n9\nten\n');
});

forms('claude says where a change can be read that fits no form; it is approved there', async (it) => {
  const terminal = await it.calls('claude', 'write_file', { path: 'new.txt', content: 'line\n'.repeat(60) });
  await terminal.sees(/This change does not fit here\.[^]*pillion watch[^]*choose Try again/);
  await it.picture('claude-elsewhere');
  /** @type {Keys} */
  const again = [['Right', /Space to select/], ['Down', /❯ ◯ Try again/], ['Space', /▸ Try again/], ['Down', /❯ Accept/]];
  await answer('claude', terminal, [...again, ['Enter', /does not run in/]]);
  const watch = it.watch = await Terminal.start(it.sandbox, [pillion(), 'watch'], {}, { columns: 80, rows: 24 });
  await watch.sees(/Pillion watches/);
  await answer('claude', terminal, [...again, ['Enter', /^(?![^]*choose Try again)/]]);
  await watch.sees(/\+line[^]*Your answer \(.*\): ?$/m);
  await watch.type('a');
  await watch.press('Enter');
  await terminal.sees(/That is all/);
  await it.told();
  assert.equal(it.sandbox.read('new.txt'), 'line\n'.repeat(60));
});

forms('codex shows a long command in parts', async (it) => {
  const terminal = await it.begin('codex', Array.from({ length: 15 }, (_, i) => `printf ${i} >> out.txt`).join('\n'));
  const first = await terminal.sees(/Part 1 of 2/);
  assert.match(first, /printf 0 [^]*printf 11 /);
  await it.picture('codex-part-1');
  await answer('codex', terminal, [['Enter', /Part 2 of 2/]]);
  assert.match(await terminal.screen(), /printf 14 /);
  await answer('codex', terminal, programs.codex.approve);
  await it.told();
  assert.equal(it.sandbox.read('out.txt'), '01234567891011121314');
});

forms('codex exec, which has nobody to ask, is told so', async (it) => {
  const { sandbox } = it;
  execFileSync(pillion(), ['mcp', 'install', '--yes', 'codex'], { cwd: sandbox.project, env: sandbox.env });
  it.model = await ScriptedModel.start([{ tool: 'run_command', args: { command: 'touch made' } }, { say: 'That is all.' }]);
  await run('codex', sandbox, it.model.url, 'go on');
  const told = await it.told();
  assert.match(told, /nobody could be asked/);
  assert.doesNotMatch(told, /USER_REJECTED/);
  assert.equal(sandbox.exists('made'), false);
  const log = execFileSync(pillion(), ['audit', '--json'], { cwd: sandbox.project, env: sandbox.env, encoding: 'utf8' });
  assert.match(log, /"tool":"run_command".*"by":"nobody"/);
});
