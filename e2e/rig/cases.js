/**
 * What every editor with a plugin of ours must do, as cases: the same story, told by the editor's own hands and eyes,
 * which its Ride gives. Each editor's test file calls these, and has beside them what is that editor's own.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { agents, run } from './agents.js';
import { eventually } from './expect.js';
import { clock } from './kettle.js';
import { edit, edited, files as greetingFiles, greeting } from './greeting.js';
import { pillion } from './places.js';
import { ScriptedModel } from './scripted-model.js';

/** @typedef {{file: string} | {command: string}} About what a question is about: an edit of this file, or this command */
/** @typedef {{
 *   read: () => Promise<void>, approve: () => Promise<void>, reject: (reason?: string) => Promise<void>,
 *   proposes: (text: string) => Promise<void>, ended: (why: RegExp) => Promise<void>,
 * }} Question `read`: it is in front, drawn whole; `proposes`: the proposed side comes to show this; `ended`: it can no
 * longer be answered, and what has taken its place says why */
/** @typedef {{
 *   sandbox: import('./sandbox.js').Sandbox, agent: (name?: string) => Promise<import('./agent.js').Agent>,
 *   question: (about: About) => Promise<Question>, picture: (name: string) => void | Promise<void>,
 * }} Rider */
/** @template {Rider} R @typedef {(name: string, files: Record<string, string>, body: (it: R) => Promise<void>) => void} Riding */

export const commandFiles = { 'words.txt': 'alpha\nbeta\ngamma\n', 'count.sh': 'wc -l < words.txt\n' };

/**
 * An agent's edit of one file: what a person answers is what happens to it.
 * @template {Rider} R @param {Riding<R>} ride @param {(it: R) => Promise<void>} nothingIsOpen checks it
 */
export function editCases(ride, nothingIsOpen) {
  ride('approved, the file not open: it is written, and not opened', greetingFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('edit_file', edit);
    await (await it.question({ file: 'greet.py' })).approve();
    const result = await call;
    assert.equal(result.isError, false, result.text);
    assert.equal(it.sandbox.read('greet.py'), edited);
    await nothingIsOpen(it);
  });

  ride('rejected with a reason: the file is untouched and the agent reads the reason', greetingFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('edit_file', edit);
    await (await it.question({ file: 'greet.py' })).reject('keep the plus sign');
    const result = await call;
    assert.equal(result.isError, true);
    assert.equal(result.structured.error.code, 'USER_REJECTED');
    assert.match(result.text, /keep the plus sign/);
    assert.equal(it.sandbox.read('greet.py'), greeting);
  });

  ride('the file changes elsewhere while the question is open: the dialog follows, and both changes land', greetingFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('edit_file', edit);
    const question = await it.question({ file: 'greet.py' });
    await question.read();
    it.sandbox.write('greet.py', `# from outside\n${greeting}`);
    await question.proposes('# from outside');
    await it.picture('proposal-followed');
    await question.approve();
    const result = await call;
    assert.equal(result.isError, false, result.text);
    assert.equal(it.sandbox.read('greet.py'), `# from outside\n${edited}`);
  });

  ride('the very lines change while the question is open: never written on the old yes', greetingFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('edit_file', edit);
    const question = await it.question({ file: 'greet.py' });
    await question.read();
    const outside = greeting.replace('"Hello " + name', '"Bye " + name');
    it.sandbox.write('greet.py', outside);
    const result = await call;
    assert.equal(result.isError, true);
    assert.match(result.structured.error.code, /^(CONCURRENT_MODIFICATION|EDIT_NO_MATCH)$/);
    assert.equal(it.sandbox.read('greet.py'), outside);
    await question.ended(/cannot be done any more/);
    await it.picture('proposal-overtaken');
  });
}

/**
 * An agent's commands and its other tools.
 * @template {Rider} R @param {Riding<R>} ride @param {(it: R) => Promise<void>} listsCalls checks that a search and two more are listed
 */
export function commandCases(ride, listsCalls) {
  ride('a command rejected is not run', commandFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('run_command', { command: 'touch made-by-agent' });
    await (await it.question({ command: 'touch' })).reject();
    const result = await call;
    assert.equal(result.structured.error.code, 'USER_REJECTED');
    assert.equal(it.sandbox.exists('made-by-agent'), false);
  });

  ride('what a command left in the background ends with it', commandFiles, async (it) => {
    const agent = await it.agent();
    const call = agent.call('run_command', { command: 'sleep 987 & echo started' });
    await (await it.question({ command: 'sleep 987' })).approve();
    assert.equal((await call).structured.stdout, 'started\n');
    await eventually('the sleep is gone', () => it.sandbox.running(/sleep 987/).length === 0);
  });

  ride('reading needs no asking, and what was done is listed', commandFiles, async (it) => {
    const agent = await it.agent();
    const names = (await agent.tools()).map((tool) => tool.name);
    assert.deepEqual(names.filter((name) => !/^[a-z_]+$/.test(name) || name === 'wait_for_answer'), [], 'an agent that waits as long as you need has no use for that');
    for (const name of ['read_file', 'write_file', 'edit_file', 'list_files', 'search_in_project', 'git_diff', 'run_command', 'prompt_user']) {
      assert.ok(names.includes(name), `${name} is offered`);
    }
    const found = await agent.call('search_in_project', { query: 'beta' });
    assert.equal(found.structured.matches[0].path, 'words.txt');
    const listed = await agent.call('list_files', {});
    assert.deepEqual(listed.structured.files.map((/** @type {any} */ f) => f.path).sort(), ['count.sh', 'words.txt']);
    it.sandbox.write('words.txt', 'alpha\nBETA\ngamma\n');
    const diff = await agent.call('git_diff', {});
    assert.match(diff.structured.diff, /-beta\n\+BETA/);
    await listsCalls(it);
    await it.picture('activity');
  });

  ride('what an agent gets wrong it is told, and nothing changes', commandFiles, async (it) => {
    const agent = await it.agent();
    const code = async (/** @type {string} */ tool, /** @type {Record<string, unknown>} */ args) => (await agent.call(tool, args)).structured?.error?.code;
    assert.equal(await code('read_file', { path: 'absent.txt' }), 'FILE_NOT_FOUND');
    assert.equal(await code('read_file', { path: '../outside.txt' }), 'PATH_OUTSIDE_WORKSPACE');
    assert.equal(await code('read_file', { path: 'words.txt', pathh: 'x' }), 'INVALID_ARGUMENTS');
    assert.equal(await code('edit_file', { path: 'words.txt', old_string: 'delta', new_string: 'x' }), 'EDIT_NO_MATCH');
    assert.equal(it.sandbox.read('words.txt'), commandFiles['words.txt']);
  });
}

/**
 * @template {Rider} R @param {Riding<R>} ride of an editor in mode auto
 */
export function autoCase(ride) {
  const files = { ...commandFiles, 'make.sh': 'mkdir sub; echo made >sub/made.txt; echo evil >sub/.envrc; sed -i s/beta/delta/ words.txt\n' };
  ride('in mode auto a command changes the project unasked, but nothing that runs programs', files, async (it) => {
    const agent = await it.agent();
    const ran = await agent.call('run_command', { command: 'sh make.sh' });
    assert.deepEqual(ran.structured.not_brought.map((/** @type {any} */ one) => one.path), ['sub/.envrc'], ran.text);
    assert.equal(it.sandbox.read('words.txt'), 'alpha\ndelta\ngamma\n');
    assert.equal(it.sandbox.read('sub/made.txt'), 'made\n');
    assert.equal(it.sandbox.exists('sub/.envrc'), false);
    await it.picture('auto');
  });
}

/** @template R @typedef {{
 *   choose: (it: R) => Promise<void>, listed: (it: R, words: RegExp) => Promise<void>,
 *   take: (it: R, left: string | undefined) => Promise<void>,
 * }} DraftHands `choose` the mode draft; `listed`: the list of sessions has a line like that; `take` applies the draft, but for the hunk with these words */

/**
 * An agent works on a draft, which a person reviews: one hunk stays in it at first.
 * @template {Rider} R @param {Riding<R>} ride @param {DraftHands<R>} hands
 */
export function draftCase(ride, { choose, listed, take }) {
  ride('in mode draft an agent changes nothing until it is reviewed; what is left out stays in the draft', { 'clock.py': clock, 'read.sh': 'cat cup.py\n' }, async (it) => {
    const { sandbox } = it;
    const agent = await it.agent();
    await agent.call('read_file', { path: 'clock.py' });
    await choose(it);
    const [padded, counted] = [['{minutes}:{seconds}', '{minutes}:{seconds:02d}'], ['left -= 1', 'left = left - 1']];
    const edits = [padded, counted].map(([old_string, new_string]) => ({ old_string, new_string }));
    const made = [await agent.call('edit_file', { path: 'clock.py', edits }), await agent.call('write_file', { path: 'cup.py', content: 'cup = 1\n' })];
    assert.deepEqual(made.map(({ structured }) => [structured.ok, structured.draft]), [[true, true], [true, true]], made.map(({ text }) => text).join('\n'));
    assert.match((await agent.call('run_command', { command: 'sh read.sh' })).text, /cup = 1/, 'its commands see the draft');
    assert.equal(sandbox.read('clock.py'), clock);
    assert.equal(sandbox.exists('cup.py'), false);
    await listed(it, /Draft: 2 files, \+3 −2/);
    await it.picture('draft');
    const first = agent.call('submit_changes', { summary: 'Pads the seconds, and counts in plain words.' });
    await take(it, counted[1]);
    const { text, structured: { ok, applied, left, discarded } } = await first;
    assert.deepEqual([ok, applied.map((/** @type {any} */ one) => one.path).sort(), left.map((/** @type {any} */ one) => one.path), discarded], [true, ['clock.py', 'cup.py'], ['clock.py'], false], text);
    assert.equal(sandbox.read('clock.py'), clock.replace(padded[0], padded[1]));
    assert.equal(sandbox.read('cup.py'), 'cup = 1\n');
    await listed(it, /Draft: 1 file, \+1 −1/);
    const second = agent.call('submit_changes', {});
    await take(it, undefined);
    assert.equal((await second).structured.ok, true, (await second).text);
    assert.equal(sandbox.read('clock.py'), clock.replace(padded[0], padded[1]).replace(counted[0], counted[1]));
  });
}

/**
 * Commands that only read, which the settings of other rides have ask.
 * @template {Rider} R @param {Riding<R>} ride of an editor with the setting commands.readOnly
 */
export function readingCase(ride) {
  ride('a command that only reads asks nobody and sees no secret; one that names a secret asks, and so does one that runs code', { ...commandFiles, '.env': 'KEY=hunter2\n' }, async (it) => {
    const agent = await it.agent();
    const read = await agent.call('run_command', { command: 'grep -rn "KEY\\|beta" . | sort && for f in *.txt; do wc -l "$f"; done' });
    assert.equal(read.structured.stdout, './words.txt:2:beta\n3 words.txt\n');
    assert.equal((await agent.call('run_command', { command: 'git log --format=%an | wc -l' })).structured.stdout, '1\n');
    assert.match(read.text, /files that may hold secrets looked empty to it: \.env/);
    const named = agent.call('run_command', { command: 'cat .env' });
    await (await it.question({ command: 'cat .env' })).reject();
    assert.equal((await named).structured.error.code, 'USER_REJECTED');
    const ran = agent.call('run_command', { command: 'sh count.sh' });
    await (await it.question({ command: 'sh count.sh' })).approve();
    assert.equal((await ran).structured.stdout, '3\n');
    await it.picture('reads-unasked');
  });
}

const adder = 'def add(a, b):\n    return a - b\n';
const task = [
  { tool: 'read_file', args: { path: 'add.py' } },
  { tool: 'edit_file', args: { path: 'add.py', old_string: 'a - b', new_string: 'a + b' } },
  { tool: 'run_command', args: { command: 'sh test.sh' } },
  { say: 'The sum is right now.' },
];

/** What the agents bring themselves to change files and run commands. */
const ownTools = {
  claude: ['Bash', 'Edit', 'Write', 'NotebookEdit'],
  codex: ['exec_command', 'write_stdin', 'shell', 'apply_patch'],
  qwen: ['edit', 'write_file', 'run_shell_command'],
  gemini: ['replace', 'write_file', 'run_shell_command'],
  opencode: ['edit', 'write', 'patch', 'apply_patch', 'bash'],
};

/**
 * The real agents, offline: after `pillion mcp install` each does a small task through
 * the editor that is open on its folder. A scripted model plays the model; a person approves in the editor.
 * @template {Rider} R @param {Riding<R>} ride @param {(it: R, text: string) => Promise<void>} [shows] checks that the editor shows add.py as it is now
 * @param {typeof agents} names
 */
export function agentCases(ride, shows, names = agents) {
  for (const name of names) {
    const files = { 'add.py': adder, 'test.sh': 'python3 -c "from add import add; assert add(2, 3) == 5; print(\'all good\')"\n' };
    ride(`${name} mends a function and runs its test`, files, async (it) => {
      const { sandbox } = it;
      execFileSync(pillion(), ['mcp', 'install', '--yes', name], { cwd: sandbox.project, env: sandbox.env });
      const model = await ScriptedModel.start(task);
      try {
        const turn = run(name, sandbox, model.url, 'mend add.py');
        for (const [kind, about] of /** @type {[string, About][]} */ ([['edit', { file: 'add.py' }], ['command', { command: 'sh test.sh' }]])) {
          const question = await it.question(about);
          await question.read();
          await it.picture(`agent-${name}-${kind}`);
          await question.approve();
        }
        assert.match(await turn, /The sum is right now\./);
        const fixed = adder.replace('a - b', 'a + b');
        assert.equal(sandbox.read('add.py'), fixed);
        await shows?.(it, fixed);
        assert.equal(model.remaining, 0);
        const { entries } = JSON.parse(execFileSync(pillion(), ['journal', '--json'], { cwd: sandbox.project, env: sandbox.env, encoding: 'utf8' }));
        assert.equal(entries.at(-1).prompt, ['claude', 'qwen', 'gemini'].includes(name) ? 'mend add.py' : undefined, 'its turn has the name that the user gave it');
        assert.match(model.transcript, /return a - b/, 'the model was shown the file');
        assert.match(model.transcript, /all good/, 'the model was shown the output of the test');
        assert.deepEqual(model.offered.filter((/** @type {string} */ tool) => ownTools[name].includes(tool)), [], 'its own edit and shell tools are off');
      } finally {
        await model.close();
      }
    });
  }
}

const notes = Array.from({ length: 140 }, (_, i) => `${i}\tif name == "" { return errors.New("no name \\n") }\n`).join('');
const leaf = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGNQaHDAihiGlgQA2gM4AQRmgAkAAAAASUVORK5CYII=';

/** @param {any} value @returns {string[]} */
function strings(value) {
  if (typeof value === 'string') return [value];
  return value && typeof value === 'object' ? Object.values(value).flatMap(strings) : [];
}

/**
 * What each agent's model is given of what it reads: a file of 7 kB once, as it stands and for hardly more than itself.
 * @template {Rider} R @param {Riding<R>} ride
 */
export function readCases(ride) {
  for (const name of agents) {
    ride(`${name} shows its model what it read, once`, { 'notes.txt': notes, 'add.py': adder }, async ({ sandbox }) => {
      fs.writeFileSync(path.join(sandbox.project, 'leaf.png'), Buffer.from(leaf, 'base64'));
      execFileSync(pillion(), ['mcp', 'install', '--yes', name], { cwd: sandbox.project, env: sandbox.env });
      const model = await ScriptedModel.start([{ tool: 'read_file', args: { path: 'notes.txt' } }, { tool: 'read_file', args: { path: 'leaf.png' } }, { say: 'Read.' }]);
      try {
        assert.match(await run(name, sandbox, model.url, 'read notes.txt'), /Read\./);
        const [before, after, last] = model.requests.map(({ body }) => strings(body));
        const came = after.filter((text) => !before.includes(text)).join('');
        assert.ok(came.includes(notes.trimEnd()), `the text as it stands: ${came.slice(0, 500)}`);
        assert.ok(came.length < notes.length * 1.05, `${came.length} characters for ${notes.length}`);
        assert.match(came, /140 lines, version [0-9a-f]{32}/);
        assert.ok(last.some((text) => text.endsWith(leaf)), 'the image as an image');
      } finally {
        await model.close();
      }
    });
  }
}
