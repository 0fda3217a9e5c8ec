/** The agent and the user in one buffer at one time: insert mode, undo, versions, formatters. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting, lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';
import { HeldWire } from './held-wire.js';

const atTop = { path: 'greet.py', old_string: 'def greet', new_string: '# greets\n\ndef greet' };
/** Edits need no asking: what is tried here is what happens to the buffer. */
const automatic = { opened: 'greet.py', setup: `require('pillion').setup({ settings = { mode = 'auto_edit' } })\n` };

takePictures();

ride('the agent edits the line that the user is typing in: both texts are whole', files, async (it) => {
  const { nvim, wire, call } = await held(it);
  await nvim.press('2GA');
  await nvim.type(' # a word');
  wire.release();
  const result = await call;
  assert.equal(result.isError, false, result.text);
  await nvim.type(' more');
  assert.equal((await nvim.mode()).mode, 'i');
  assert.deepEqual(await nvim.lines('greet.py'), lines(edited).with(1, `    return f"Hello, {name}!" # a word more`));
  nvim.screenshot('typing-in-the-same-line');
}, null);

ride('the agent replaces what is around the word in which the user types: what is typed is in one piece', files, async (it) => {
  const { nvim, wire, call } = await held(it, { path: 'greet.py', edits: [
    { old_string: 'greet(name)', new_string: 'hail(whom)' },
    { old_string: '"H', new_string: '"Oh H' },
  ] });
  await nvim.press('2G0fHea');
  await nvim.type('xx');
  wire.release();
  const result = await call;
  assert.equal(result.isError, false, result.text);
  await nvim.type('yy');
  assert.deepEqual((await nvim.lines('greet.py')).slice(0, 2), ['def hail(whom):', '    return "Oh Helloxxyy " + name']);
}, null);

ride('one u takes back the agent’s edit alone', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await nvim.press('Go# mine<Esc>');
  await nvim.command('write');
  await makes(agent);
  assert.equal(sandbox.read('greet.py'), `${edited}# mine\n`);
  await nvim.press('u');
  await eventually('the edit is taken back', async () => (await nvim.lines('greet.py'))[1] === lines(greeting)[1]);
  assert.deepEqual(await nvim.lines('greet.py'), lines(`${greeting}# mine\n`));
  await nvim.press('<C-r>');
  await eventually('and made again', async () => (await nvim.lines('greet.py'))[1].includes(edit.new_string));
  await nvim.press('uu');
  await eventually('the second u takes back what the user typed', async () => (await nvim.lines('greet.py')).length === lines(greeting).length);
  assert.deepEqual(await nvim.lines('greet.py'), lines(greeting));
}, automatic);

ride('one u takes back the agent’s edit alone, though it came while the user typed in insert mode', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  await nvim.press('Go# before');
  await makes(agent);
  assert.equal((await nvim.mode()).mode, 'i');
  await nvim.type(' after');
  await nvim.press('<Esc>');
  const all = lines(`${edited}# before after\n`);
  assert.deepEqual(await nvim.lines('greet.py'), all);
  const steps = [
    all.with(-1, '# before'),
    lines(`${greeting}# before\n`),
    lines(greeting),
  ];
  for (const [i, step] of steps.entries()) {
    await nvim.press('u');
    await eventually(`u number ${i + 1} was done`, async () => (await nvim.lines('greet.py')).join('\n') === step.join('\n'))
      .catch(async () => assert.deepEqual(await nvim.lines('greet.py'), step));
  }
}, automatic);

ride('an edit for a version that is gone never touches the buffer, and is made on the next one', files, async (it) => {
  const { nvim, wire, call } = await held(it);
  await nvim.press('ggOone line more<Esc>');
  const before = await nvim.lines('greet.py');
  wire.release();
  assert.equal((await wire.answer()).applied, false);
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal((await wire.answer(2)).applied, true);
  assert.deepEqual(await nvim.lines('greet.py'), before.with(2, `    return ${edit.new_string}`));
}, null);

ride('an edit for a version that is gone, whose text is gone too: the buffer is untouched and the agent is told', files, async (it) => {
  const { nvim, wire, call } = await held(it);
  await nvim.press('2GSreturn None<Esc>');
  const before = await nvim.lines('greet.py');
  wire.release();
  const result = await call;
  assert.equal(result.isError, true);
  assert.equal(result.structured.error.code, 'CONCURRENT_MODIFICATION');
  assert.equal((await wire.answer()).applied, false);
  await nvim.settled();
  assert.deepEqual(await nvim.lines('greet.py'), before);
}, null);

ride('undone and typed anew, so that the text is the same again: still another version', files, async (it) => {
  const { nvim, wire, call } = await held(it);
  await nvim.press('ggOx<Esc>u');
  wire.release();
  assert.equal((await wire.answer()).applied, false);
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.deepEqual(await nvim.lines('greet.py'), lines(edited));
}, null);

ride('the cursor and the view stay at their text when the agent writes above', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  await nvim.press('5G0w');
  const before = await nvim.cursor();
  await makes(agent, atTop);
  assert.deepEqual(await nvim.cursor(), { ...before, line: before.line + 2 });
}, automatic);

ride('a selection stays what it was when the agent writes above', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  await nvim.press('5G0ve');
  await makes(agent, atTop);
  await nvim.press('y');
  await eventually('the word is in the register', async () => (await nvim.lua(`return vim.fn.getreg('"')`)) === 'print');
}, automatic);

ride('the agent’s edit is no part of a repeated change or of a macro', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  await nvim.press('Goone<Esc>qa');
  await makes(agent);
  await nvim.press('q.');
  await eventually('the user’s own change is repeated', async () => (await nvim.lines('greet.py')).slice(-2).join() === 'one,one');
  assert.equal(await nvim.lua(`return vim.fn.getreg('a')`), '');
}, automatic);

ride('what a formatter does on save is reported to the agent', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const result = await makes(agent);
  assert.equal(result.saved, true);
  assert.equal(result.formatted, true);
  assert.match(result.diff, /^\+# formatted/m);
  const text = `${edited}# formatted\n`;
  assert.equal(sandbox.read('greet.py'), text);
  assert.deepEqual(await nvim.lines('greet.py'), lines(text));
  assert.equal(await nvim.modified('greet.py'), false);
}, { ...automatic, init: `vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.py', callback = function()
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { '# formatted' })
end })\n` });

ride('a save that fails is told, and nothing is lost', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const result = await makes(agent);
  assert.equal(result.saved, false);
  assert.equal(sandbox.read('greet.py'), greeting);
  assert.match((await nvim.lines('greet.py'))[1], /f"Hello/);
  assert.equal(await nvim.modified('greet.py'), true);
  assert.equal((await nvim.mode()).blocking, false);
}, { ...automatic, init: `vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.py', callback = function() error('the formatter is broken') end })\n` });

ride('a save while the user types in another window leaves their cursor, mode and messages alone', { ...files, 'notes.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await nvim.command('split notes.txt');
  await nvim.press('i');
  await nvim.type('half a ');
  assert.equal((await makes(agent)).saved, true);
  await nvim.type('sentence');
  assert.equal((await nvim.mode()).mode, 'i');
  assert.equal(await nvim.file(), 'notes.txt');
  assert.deepEqual(await nvim.lines('notes.txt'), ['half a sentence']);
  assert.equal(sandbox.read('notes.txt'), '');
  assert.match(nvim.screen.text, /-- INSERT --/);
}, automatic);

/** The sidecar's edit is made, but Neovim has not heard of it yet. @param {import('./ride.js').Ride} it */
async function held(it, asked = /** @type {Record<string, unknown>} */ (edit)) {
  const wire = new HeldWire(it.sandbox);
  const setup = `require('pillion').setup({ path = ${JSON.stringify(wire.program)}, settings = { mode = 'auto_edit' } })\n`;
  const nvim = await it.begin({ opened: 'greet.py', setup });
  const agent = await it.agent();
  wire.hold();
  const call = agent.call('edit_file', asked);
  await wire.edit();
  return { nvim, wire, call };
}

/** The edit goes through. @param {import('../rig/agent.js').Agent} agent */
async function makes(agent, asked = edit) {
  const result = await agent.call('edit_file', asked);
  assert.equal(result.isError, false, result.text);
  return result.structured;
}
