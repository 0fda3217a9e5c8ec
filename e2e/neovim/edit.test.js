/** An agent's edit of one file in a real Neovim: what a person answers is what happens to the file. */
import assert from 'node:assert/strict';
import { editCases } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting, lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';

takePictures();

editCases(ride, async ({ nvim }) => {
  await eventually('nothing of it is left', async () => (await nvim.tabs()).join() === '');
  await assert.rejects(nvim.lines('greet.py'), /no buffer/);
});

ride('approved, the file open and clean: the buffer and the disk hold the new text', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.show();
  await nvim.sees('f"Hello, {name}!"');
  assert.deepEqual(await dialog.proposedText(), lines(edited));
  nvim.screenshot('proposal');
  assert.equal(sandbox.read('greet.py'), greeting);
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.saved, true);
  assert.equal(sandbox.read('greet.py'), edited);
  assert.deepEqual(await nvim.lines('greet.py'), lines(edited));
  assert.equal(await nvim.modified('greet.py'), false);
  await eventually('the proposal is gone', async () => (await nvim.tabs()).join() === 'greet.py');
  await nvim.sees('f"Hello, {name}!"');
  nvim.screenshot('approved');
}, { opened: 'greet.py' });

ride('approved with one key in the proposal', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.show();
  await dialog.press('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('greet.py'), edited);
}, { opened: 'greet.py' });

ride('the user edits the proposal: their text lands and the agent is told', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.show();
  await dialog.enterProposal();
  await addLine(nvim, '# by hand');
  await nvim.sees('# by hand');
  nvim.screenshot('proposal-edited');
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.edited_by_human, true);
  assert.equal(sandbox.read('greet.py'), `${edited}# by hand\n`);
  assert.match(result.text, /# by hand/);
}, { opened: 'greet.py' });

ride('unsaved changes survive: the edit goes into the buffer, and nothing is saved', files, async (it) => {
  const { nvim, sandbox } = it;
  await addLine(nvim, '# mine, not saved');
  const agent = await it.agent();
  await eventually('the agent reads what is typed but not saved', async () => {
    const { structured } = await agent.call('read_file', { path: 'greet.py' });
    return structured.source === 'buffer' && structured.content.endsWith('# mine, not saved\n');
  });
  const call = agent.call('edit_file', edit);
  await (await nvim.dialog('greet.py')).answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.saved, false);
  assert.equal(sandbox.read('greet.py'), greeting);
  assert.deepEqual(await nvim.lines('greet.py'), lines(`${edited}# mine, not saved\n`));
  assert.equal(await nvim.modified('greet.py'), true);
  nvim.screenshot('unsaved-changes-survive');
}, { opened: 'greet.py' });

ride('the user types in the file while the question is open: the dialog follows, and both land', files, async (it) => {
  const { nvim } = it;
  const { call, dialog } = await proposed(it);
  await nvim.press('ggO');
  await nvim.type('# typed meanwhile');
  await nvim.press('<Esc>');
  await eventually('the dialog shows the new text', async () => (await dialog.proposedText()).includes('# typed meanwhile'));
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.deepEqual(await nvim.lines('greet.py'), lines(`# typed meanwhile\n${edited}`));
}, { opened: 'greet.py' });

ride('the proposal was edited when the file changed: what the user wrote is kept, and shown again with the change', files, async (it) => {
  const { nvim, sandbox } = it;
  const { call, dialog } = await proposed(it);
  await dialog.show();
  await dialog.enterProposal();
  await addLine(nvim, '# by hand');
  const changed = dialog.changes();
  sandbox.write('greet.py', `# from outside\n${greeting}`);
  await changed;
  assert.ok((await dialog.proposedText()).includes('# by hand'));
  await dialog.answer('approve');
  const again = await nvim.dialog('greet.py');
  await eventually('it is asked again, with both', async () => {
    const text = (await again.proposedText()).join('\n');
    return text.includes('# from outside') && text.includes('# by hand');
  });
  await again.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('greet.py'), `# from outside\n${edited}# by hand\n`);
});

ride('typing elsewhere while a proposal appears: no key is lost and nothing is approved', { ...files, 'notes.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('i');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const sentence = 'yes, y and Enter and all that I type here are mine alone';
  const announced = () => nvim.screen.text.includes('wants to edit greet.py');
  let typed = '';
  let told = false;
  // Types on until the question has waited for a whole sentence.
  for (let line = 1, seen = 0; seen < 2; line++) {
    const text = `${sentence} ${line}\n`;
    for (const key of text) {
      await nvim.type(key);
      told ||= announced();
    }
    typed += text;
    if (await nvim.waits() > 0) seen++;
  }
  assert.equal((await nvim.mode()).mode, 'i');
  assert.equal(await nvim.file(), 'notes.txt');
  await eventually('it was announced', () => told || announced());
  nvim.screenshot('typing-while-a-proposal-appears');
  assert.equal(sandbox.read('greet.py'), greeting);
  await nvim.press('<Esc>');
  await nvim.command('write');
  await eventually('what was typed is saved in the file it was typed into', () => sandbox.read('notes.txt').trimEnd() === typed.trimEnd());
  await (await nvim.dialog('greet.py')).answer('reject');
  assert.equal((await call).isError, true);
  assert.equal(sandbox.read('greet.py'), greeting);
}, { opened: 'notes.txt' });

ride('normal-mode keys and a command line under way when a proposal appears stay where they were', { ...files, 'notes.txt': 'one two three\n' }, async (it) => {
  const { nvim } = it;
  await nvim.press('2');
  await nvim.type(':echo "half a com');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  await eventually('it waits', async () => (await nvim.waits()) > 0);
  await nvim.settled();
  assert.ok(nvim.screen.text.includes('half a com'), nvim.screen.text);
  assert.match((await nvim.mode()).mode, /^c/);
  await nvim.press('<C-c>');
  await nvim.press('w');
  assert.equal(await nvim.file(), 'notes.txt');
  await (await nvim.dialog('greet.py')).answer('reject');
  assert.equal((await call).isError, true);
}, { opened: 'notes.txt' });

ride('an answer in the very moment in which the question appears is not taken', files, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.lua(`local Approval = require('pillion.approval') -- whose clock stands still
    local now = Approval.now()
    Approval.now = function() return now + (vim.g.later or 0) end`);
  const { call, dialog } = await proposed(it);
  await dialog.show();
  await nvim.command('Pillion approve');
  await nvim.sees('Too fast: press again');
  await nvim.press('ga');
  await nvim.settled();
  assert.equal(await nvim.lua('return vim.g.yes'), 'said');
  assert.equal(await dialog.isOpen(), true);
  assert.equal(sandbox.read('greet.py'), greeting);
  await nvim.lua('vim.g.later = 1000');
  await dialog.answer('approve');
  assert.equal((await call).isError, false);
}, {
  // The quickest hand there is: a yes in the moment in which the question is announced.
  init: `vim.api.nvim_create_autocmd('User', {pattern = 'PillionApproval', callback = function()
    vim.g.yes = 'said'
    pcall(vim.cmd, 'Pillion approve')
  end})\n`,
});

/** An agent proposes the edit. @param {import('./ride.js').Ride} it */
async function proposed(it) {
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  return { call, dialog: await it.nvim.dialog('greet.py') };
}

/** A line of the user's own below all others. @param {import('./neovim.js').Neovim} nvim @param {string} line */
async function addLine(nvim, line) {
  await nvim.press('Go');
  await nvim.type(line);
  await nvim.press('<Esc>');
}
