/** What an agent changed, in a real VS Code: merged with what the user types, marked, listed, and taken back. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { ride, shareEditor } from './ride.js';

const proposal = /greet\.py.*proposes/;

shareEditor();

ride('typing in the file while its question is open: both texts end up in the editor, and one undo takes the agent\'s out', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit);
  const dialog = await (await window.dialog(proposal)).drawn();
  await window.press('Control+End'); // the focus is still in the file
  await window.type('# typed while it asks');
  await eventually('the proposal follows', async () => (await dialog.proposedText()).includes('# typed while it asks'));
  await window.screenshot('typing-while-it-asks');
  await dialog.press('Approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  const both = `${edited}# typed while it asks`;
  const text = () => window.text(window.editor('greet.py'));
  await eventually('both are in the editor', async () => await text() === both);
  assert.equal(sandbox.read('greet.py'), greeting, 'what the user has not saved is theirs to save');
  await eventually('the changed line is marked', async () => (await window.marks()).join() === '2 changed');
  await window.focus('greet.py');
  await window.press('Control+z');
  await eventually('one undo takes the agent\'s edit out, and no more', async () => await text() === `${greeting}# typed while it asks`);
  await eventually('its mark is gone', async () => (await window.marks()).length === 0);
  await window.press('Control+y');
  await eventually('a redo brings both back', async () => await text() === both && (await window.marks()).join() === '2 changed');
});

ride('a change is marked, moves with the text, and is taken back after a look; so is the revert', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  const call = agent.call('edit_file', { path: 'greet.py', edits: [edit, { old_string: 'print(', new_string: '# says it\nprint(' }].map(({ old_string, new_string }) => ({ old_string, new_string })) });
  await (await window.dialog(proposal)).press('Approve');
  assert.equal((await call).isError, false);
  await eventually('the lines are marked', async () => (await window.marks()).join() === '2 changed,5 added');
  await window.focus('greet.py');
  await window.press('Control+Home');
  await window.type('# mine\n');
  await eventually('the marks move with the text', async () => (await window.marks()).join() === '3 changed,6 added');
  await window.lineMenu('greet.py', 3);
  await window.page.getByRole('menuitem', { name: 'Revert This Change…' }).waitFor();
  await window.screenshot('marks-menu');
  await window.press('Escape');
  await window.focus('greet.py');
  await window.hover('greet.py', 'f"Hello');
  await eventually('the hover says who and what can be done', async () => /scripted-agent changed this[^]*Revert This Change…[^]*Accept in This File/.test(await window.hovered()));
  await window.screenshot('marks');

  await window.page.locator('.monaco-hover a', { hasText: 'Revert This Change…' }).first().click();
  const preview = await (await window.dialog(/now ↔ after the revert/)).drawn('Revert');
  await eventually('it shows what would be', async () => (await preview.proposedText()).includes('"Hello " + name'));
  assert.match(await preview.proposedText(), /^# mine\n/);
  await window.screenshot('revert');
  await preview.press('Revert');
  const mine = `# mine\n${greeting}`;
  const text = () => window.text(window.editor('greet.py'));
  await eventually('the agent\'s lines are back as they were, and mine are still there', async () => await text() === mine);
  await eventually('nothing is marked any more', async () => (await window.marks()).length === 0);
  await eventually('the list says so', async () => (await window.changes()).some((row) => /Edit greet\.py.*reverted/s.test(row)));
  await window.screenshot('reverted');

  await window.page.locator('.notifications-toasts').getByRole('button', { name: 'Take It Back…' }).click();
  await (await (await window.dialog(/now ↔ after the revert/)).drawn('Revert')).press('Revert');
  await eventually('the agent\'s change is there again', async () => (await text()).includes('# says it'));
  assert.match(await text(), /^# mine\n/);

  const again = agent.call('edit_file', { path: 'greet.py', old_string: '# says it', new_string: '# says it aloud' });
  await (await window.dialog(proposal)).press('Approve');
  assert.equal((await again).isError, false);
  await eventually('the line is marked', async () => (await window.marks()).join() === '6 changed');
  await window.focus('greet.py');
  await window.press('Control+s');
  await eventually('a save by hand accepts it', async () => (await window.marks()).length === 0 && sandbox.read('greet.py').includes('# says it aloud'));
});

const tree = { 'lib/one.py': 'one = 1\n', 'lib/two.py': 'two = 2\n', 'notes.md': '# Notes\n\none\ntwo\nthree\n' };

ride('folders and files that an agent makes, moves and deletes: each question says what goes where, an open file is followed, and the turn is taken back as a whole', tree, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('lib/one.py');
  const agent = await it.agent();
  /** @param {string} tool @param {Record<string, string | boolean>} args @param {string | RegExp} question @param {RegExp} [says] */
  const approved = async (tool, args, question, says) => {
    const call = agent.call(tool, args);
    const dialog = await (await window.dialog(question)).drawn();
    if (says) await eventually(`the page says ${says}`, async () => says.test(await dialog.pageText()));
    await window.screenshot(`asks-${tool}`);
    await dialog.press('Approve');
    const result = await call;
    assert.equal(result.isError, false, result.text);
  };
  await approved('create_directory', { path: 'src' }, 'Create a folder?', /wants to create the folder src/);
  await approved('move_file', { from: 'lib', to: 'src/lib' }, 'Move a folder?', /lib  moved to src\/lib, 2 files\nFrom +lib\nTo +src\/lib\nContents +2 files\n +.*one\.py\n +.*two\.py/);
  await eventually('the tab has followed', async () => await window.placeOf('one.py') === 'src/lib/one.py');
  assert.equal((await agent.call('read_file', { path: 'notes.md' })).isError, false);
  sandbox.write('notes.md', `${tree['notes.md']}from outside\n`);
  const merging = agent.call('write_file', { path: 'notes.md', content: tree['notes.md'].replace('Notes', 'Notes by the agent') });
  const merged = await (await window.dialog(/notes\.md.*proposes/)).drawn();
  await eventually('the proposal has both', async () => /Notes by the agent[^]*from outside/.test(await merged.proposedText()));
  await eventually('it says that it is merged', async () => /merged with changes made since/.test(await merged.besides()));
  await window.screenshot('merged');
  await merged.press('Reject');
  assert.equal((await merging).isError, true);
  sandbox.write('notes.md', tree['notes.md']);
  await approved('delete_file', { path: 'notes.md' }, /Delete notes\.md\? .* proposes it/);
  assert.equal(sandbox.exists('notes.md'), false);
  await eventually('all of it is listed', async () => (await window.changes()).filter((row) => /^(Create|Move|Delete)/.test(row)).length === 3);
  await window.command('Pillion: Revert This Turn…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'scripted-agent' }).first().click();
  const preview = await (await window.dialog('Revert?')).drawn('Revert');
  await eventually('the page names each', async () => /Revert everything that scripted-agent changed in turn 1\?[^]*notes\.md/.test(await preview.pageText()));
  await window.screenshot('revert-turn');
  await preview.press('Revert');
  await eventually('all is where it was', () => sandbox.exists('lib/one.py') && !sandbox.exists('src') && sandbox.exists('notes.md'));
  assert.deepEqual(Object.keys(tree).map((name) => sandbox.read(name)), Object.values(tree));
  await eventually('the tab has followed back', async () => await window.placeOf('one.py') === 'lib/one.py');
  await eventually('the preview is gone', async () => (await window.tabs()).join() === 'one.py');
  await window.screenshot('reverted-turn');
});

const poem = { 'poem.txt': 'Roses are red\n', 'list.txt': 'milk\n' };

ride('each turn has the name of its prompt; the files go back to before one, with all later ones', poem, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('poem.txt');
  const agent = await it.agent('claude-code');
  /** @param {string} prompt @param {Record<string, string>} writes */
  const turn = async (prompt, writes) => {
    agent.prompted(prompt);
    for (const [path, content] of Object.entries(writes)) {
      const call = agent.call('write_file', { path, content });
      await (await window.dialog(new RegExp(`${path.replace('.', '\\.')}.*proposes`))).press('Approve');
      assert.equal((await call).isError, false);
    }
  };
  await agent.tools(); // as at the start of its program
  await turn('Write the second line of the poem', { 'poem.txt': 'Roses are red\nViolets are blue\n' });
  await turn('Now make it about tea instead, please, and put what I need on my list', { 'poem.txt': 'Tea leaves are red\nViolets are blue\n', 'list.txt': 'milk\ntea\n' });
  await turn('And the end', { 'poem.txt': 'Tea leaves are red\nViolets are blue\nThe end\n' });
  await eventually('each is listed by what the user wrote', async () => {
    const rows = (await window.changes()).join('\n');
    return /\d\d:\d\d And the end\s*1 change · Claude Code/.test(rows) && /\d\d:\d\d Now make it about tea instead, please, and put what I need…\s*2 changes[^]*Write the second line of the poem/.test(rows);
  });
  await window.screenshot('turns');
  const row = window.page.locator('.monaco-list-row', { hasText: 'Now make it about tea' }).first();
  await row.hover();
  await window.click(row.getByRole('button', { name: 'Restore to Here…' }));
  const preview = await (await window.dialog('Revert everything that Claude Code changed from turn 2 on')).drawn('Revert');
  await window.screenshot('restore-to-here');
  await preview.press('Revert');
  await eventually('both turns are undone, and not the first', () => sandbox.read('poem.txt') === 'Roses are red\nViolets are blue\n' && sandbox.read('list.txt') === poem['list.txt']);
  await eventually('the list says so', async () => (await window.changes()).filter((text) => /reverted/.test(text)).length === 3);
  await window.screenshot('restored');
});

const large = { 'one.txt': 'first\n', 'two.txt': 'second\n'.repeat(40_000), 'three.txt': 'third\n'.repeat(80_000) };

ride('a revert of one open and two closed files fails half way because the disk is full: everything is as before; with room it goes through', large, async (it) => {
  const { window } = it;
  const disk = it.disk ?? assert.fail('there is no small disk');
  await window.openFile('one.txt');
  const agent = await it.agent();
  for (const [path, content] of Object.entries({ 'one.txt': 'eins\n', 'two.txt': 'zwei\n', 'three.txt': 'drei\n' })) {
    const result = await agent.call('write_file', { path, content });
    assert.equal(result.isError, false, result.text);
  }
  disk.fill('filler', large['two.txt'].length + 50_000); // room for one of the two, and not for both
  const now = () => ['one.txt', 'two.txt', 'three.txt'].map((name) => disk.read(name).slice(0, 20)).join('');
  const names = disk.names();
  assert.equal(now(), 'eins\nzwei\ndrei\n');
  await window.command('Pillion: Revert This Turn…'); // that of the marked line, on which the cursor is
  const preview = await (await window.dialog(/^Revert everything .*\(3 files\)/)).drawn('Revert');
  const told = async () => (await window.notifications()).find((text) => /Nothing was reverted/.test(text)) ?? '';
  await preview.takesAnswers();
  await window.click(preview.button('Revert'));
  await eventually('it says that nothing was reverted', told);
  assert.match(await told(), /no space left/);
  assert.equal(now(), 'eins\nzwei\ndrei\n');
  assert.deepEqual(disk.names(), names, 'nothing is left behind');
  assert.ok((await window.tabs()).includes('one.txt'), 'the open one is not dirty');
  await window.screenshot('revert-disk-full');
  disk.fill('filler', 1_500_000);
  await preview.press('Revert');
  await eventually('all is as it was before', () => Object.entries(large).every(([name, text]) => disk.read(name) === text));
  await eventually('the editor too', async () => await window.text(window.editor('one.txt')) === large['one.txt']);
  assert.ok((await window.tabs()).includes('one.txt'));

  disk.fill('filler', 100_000);
  await agent.call('read_file', { path: 'one.txt' });
  const more = 'more\n'.repeat(40_000);
  const result = await agent.call('write_file', { path: 'one.txt', content: more });
  assert.equal(result.isError, false, result.text);
  assert.equal(result.structured.saved, false);
  assert.equal(disk.read('one.txt'), large['one.txt'], 'what cannot be saved leaves the file whole');
  assert.ok((await window.tabs()).includes('* one.txt'), 'and waits in the editor');
  await eventually('the user is told', async () => (await window.notifications()).some((text) => /one\.txt was changed but could not be saved/.test(text)));
  await window.screenshot('disk-full-open-file');
  disk.fill('filler', 1_000_000);
  await window.focus('one.txt');
  await window.press('Control+s');
  await eventually('with room it is saved', () => disk.read('one.txt') === more);
}, { disk: 3_000_000, settings: { 'pillion.mode': 'auto_edit' } });

ride('an agent that tries to leave the workspace is told of, paused from there, and let go on', files, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await agent.call('read_file', { path: `../secret-${name}` });
  const told = window.page.locator('.notifications-toasts .notification-list-item', { hasText: /scripted-agent tried 5 times/ });
  await told.waitFor();
  await eventually('the view keeps it', async () => (await window.waiting()).some((row) => /scripted-agent tries to leave the workspace/.test(row)));
  await window.screenshot('unusual');
  await window.click(told.getByRole('button', { name: 'Pause' }));
  await eventually('the view says that it is paused', async () => (await window.waiting()).some((row) => /is paused/.test(row)));
  assert.equal((await agent.call('read_file', { path: 'greet.py' })).isError, true);
  await window.screenshot('unusual-paused');
  await window.pressInView(/is paused/, 'Resume');
  await eventually('its calls go through again', async () => !(await agent.call('read_file', { path: 'greet.py' })).isError);
  await window.pressInView(/tries to leave the workspace/, 'Dismiss');
  await eventually('the entry is gone', async () => !(await window.waiting()).some((row) => /tries to leave the workspace/.test(row)));
});
