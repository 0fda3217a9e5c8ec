/** An agent's commands and its other tools in a real Neovim. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { autoCase, commandCases, commandFiles as files, readingCase } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { tree } from '../rig/places.js';
import { ride, takePictures } from './ride.js';

takePictures();

commandCases(ride, async ({ nvim }) => {
  await nvim.command('Pillion log');
  await nvim.sees(/search|Search/);
  await nvim.sees(/list|List/);
});

autoCase((name, all, body) => ride(name, all, body, { setup: `require('pillion').setup({ settings = { mode = 'auto' } })\n` }));

readingCase((name, all, body) => ride(name, all, body, { setup: `require('pillion').setup({ settings = { commands = { readOnly = true } } })\n` }));

ride('a command asks on a page that shows it whole; approved, it runs', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh count.sh && echo counted' });
  const dialog = await nvim.dialog('sh count.sh');
  await dialog.show();
  await nvim.sees('$ sh count.sh && echo counted');
  await nvim.sees(/Folder/);
  await nvim.sees(/Runs/);
  nvim.screenshot('command');
  await dialog.answer('approve');
  const { structured } = await call;
  assert.equal(structured.exit_code, 0);
  assert.equal(structured.stdout, '3\ncounted\n');
});

ride('a command that names hosts shows them, and what it may reach', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'cat words.txt', network: ['git.example.org:22', 'Registry.Example.org'] });
  const dialog = await nvim.dialog('cat words.txt');
  await dialog.show();
  await nvim.sees(/it may reach git\.example\.org:22/);
  await nvim.sees(/Network +only git\.example\.org:22, registry\.example\.org/);
  await nvim.sees(/run_command\(cat words\.txt\), network\(git\.example\.org:22\)/);
  nvim.screenshot('command-hosts');
  await dialog.answer('approve');
  assert.equal((await call).structured.stdout, files['words.txt']);
});

ride('a command on files with unsaved changes names them', files, async (it) => {
  const { nvim } = it;
  await nvim.press('Godelta<Esc>');
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh count.sh' });
  const dialog = await nvim.dialog('sh count.sh');
  await dialog.show();
  await nvim.sees('Unsaved changes not included  words.txt');
  nvim.screenshot('command-unsaved');
  await dialog.answer('approve');
  assert.deepEqual((await call).structured.unsaved, ['words.txt']);
}, { opened: 'words.txt' });

ride('save and run: what the user has not saved is saved, and the command sees it', files, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('Godelta<Esc>');
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'cat words.txt' });
  const dialog = await nvim.dialog('cat words.txt');
  await dialog.show();
  await nvim.sees(/gw +Save and Run/);
  await dialog.press('save');
  const { structured } = await call;
  assert.equal(structured.stdout, `${files['words.txt']}delta\n`);
  assert.equal(structured.unsaved, undefined);
  assert.equal(sandbox.read('words.txt'), structured.stdout);
}, { opened: 'words.txt' });

ride('save and run: where saving changes the script that would run, it is asked again', files, async (it) => {
  const { nvim } = it;
  await nvim.press('oecho mine<Esc>');
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sh count.sh' });
  const first = await nvim.dialog('sh count.sh');
  await first.show();
  await nvim.sees('Unsaved changes not included  count.sh');
  await first.press('save');
  const again = await eventually('it is asked again', async () => {
    const dialog = await nvim.dialog('sh count.sh');
    return !(await first.isOpen()) && dialog;
  });
  await again.show();
  assert.equal(nvim.screen.text.includes('not included'), false);
  await again.answer('approve');
  assert.equal((await call).structured.stdout, '3\nmine\n');
}, { opened: 'count.sh' });

ride('approved for the session: the same command asks no more, another one does', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const first = agent.call('run_command', { command: 'cat words.txt' });
  const dialog = await nvim.dialog('cat words.txt');
  await dialog.show();
  await nvim.sees('run_command(cat words.txt)'); // the exact rule, before anybody says yes to it
  nvim.screenshot('approve-for-session');
  await dialog.answerForSession(/run_command\(cat words\.txt\)/);
  assert.equal((await first).structured.exit_code, 0);
  const again = await agent.call('run_command', { command: 'cat words.txt' });
  assert.equal(again.structured.stdout, files['words.txt']);
  const other = agent.call('run_command', { command: 'rm words.txt' });
  await (await nvim.dialog('rm words.txt')).answer('reject');
  assert.equal((await other).isError, true);
  assert.equal(it.sandbox.exists('words.txt'), true);
});

ride('approved for the rest of the turn: edits ask no more, protected files do', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const first = agent.call('write_file', { path: 'a.txt', content: 'a\n' });
  const dialog = await nvim.dialog('a.txt');
  await dialog.show();
  await nvim.sees(/gA turn/);
  nvim.screenshot('approve-for-turn');
  await dialog.answerForTurn(/file_changes/);
  assert.equal((await first).isError, false);
  assert.equal((await agent.call('write_file', { path: 'b.txt', content: 'b\n' })).isError, false);
  const other = agent.call('write_file', { path: '.envrc', content: 'x\n' });
  await (await nvim.dialog('.envrc')).answer('reject');
  assert.equal((await other).isError, true);
});

ride('approved for the session, it is asked again in a new one; approved for the workspace, in none', files, async (it) => {
  const { nvim } = it;
  const cat = { command: 'cat words.txt' };
  const rule = /run_command\(cat words\.txt\)/;
  const runs = async (/** @type {import('../rig/agent.js').Agent} */ agent) => assert.equal((await agent.call('run_command', cat)).structured.stdout, files['words.txt']);
  const first = await it.agent();
  const asked = first.call('run_command', cat);
  await (await nvim.dialog('cat words.txt')).answerForSession(rule);
  assert.equal((await asked).isError, false);
  await runs(first);
  await first.close();

  const second = await it.agent();
  const again = second.call('run_command', cat);
  const dialog = await nvim.dialog('cat words.txt');
  await dialog.show();
  await nvim.sees(/gS +Approve for this workspace/);
  await dialog.answerForWorkspace(rule);
  assert.equal((await again).isError, false);
  await runs(second);
  const third = await it.agent();
  await runs(third);
  assert.equal(await nvim.waits(), 0);

  await nvim.command('Pillion rules');
  await nvim.sees(/Remembered for this workspace\n +run_command\(cat words\.txt\) +since 20/);
  await eventually('the cursor is on a rule', async () => (await nvim.lua(`return vim.fn.line('.')`)) === 2);
  nvim.screenshot('rules');
  await nvim.press('Gr');
  await nvim.sees('agents ask again for run_command(cat words.txt)');
  await eventually('the session that is over is all that is left', async () => (await nvim.lines()).length === 2);
  await nvim.press('2Gr');
  await nvim.sees('There are no rules here');
  const once = third.call('run_command', cat);
  await (await nvim.dialog('cat words.txt')).answerForSession(rule);
  assert.equal((await once).isError, false);
  await nvim.command('tabfirst');
  await nvim.sees(/Remembered for this session of scripted-agent\n +run_command\(cat words\.txt\)/);
  await nvim.press('Gr');
  await nvim.sees('asks again for run_command(cat words.txt)');
  const after = third.call('run_command', cat);
  await (await nvim.dialog('cat words.txt')).answer('reject');
  assert.equal((await after).isError, true);
  await nvim.command('Pillion log');
  await nvim.sees(/✓ Run cat words\.txt +exit code 0/);
});

ride('of several rules the user chooses a wider one: what it covers asks no more', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'git log -1 --oneline' });
  const dialog = await nvim.dialog('git log');
  await dialog.show();
  await nvim.sees('run_command(git log *)');
  await nvim.command('Pillion session');
  await nvim.sees(/1: .*git log -1 --oneline[^]*2: .*git log \*/);
  nvim.screenshot('rules-on-offer');
  await nvim.press('<CR>');
  await dialog.answerForSession(/run_command\(git log \*\)/);
  await call;
  assert.equal((await agent.call('run_command', { command: 'git log --oneline' })).isError, false);
});

ride('several commands on one page, each whole; one key approves what stands there', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const commands = ['cat words.txt', 'sh count.sh && echo counted', 'wc -c words.txt'];
  const calls = commands.map((command) => agent.call('run_command', { command }));
  await eventually('all wait', async () => (await nvim.waits()) === 3);
  await nvim.command('Pillion approve all');
  for (const command of commands) await nvim.sees(`$ ${command}`);
  nvim.screenshot('commands-together');
  await nvim.answers('ga');
  await eventually('the answer is taken', async () => (await nvim.waits()) === 0);
  for (const call of calls) assert.equal((await call).structured.exit_code, 0);
});

ride('full access is confirmed, marked, and ends with the agent', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await agent.call('read_file', { path: 'words.txt' });
  await nvim.command('Pillion mode full_access');
  await nvim.sees(/Full access for scripted-agent/);
  nvim.screenshot('full-access');
  await nvim.choose(/Yes, full access/);
  await eventually('it is marked', async () => /FULL ACCESS/.test(await nvim.status()));
  assert.equal((await agent.call('run_command', { command: 'cp words.txt copy.txt' })).structured.exit_code, 0);
  assert.equal(sandbox.exists('copy.txt'), true);
  await agent.close();
  await eventually('it is marked no more', async () => !/FULL ACCESS/.test(await nvim.status()));
  const other = (await it.agent()).call('run_command', { command: 'rm words.txt' });
  await (await nvim.dialog('rm words.txt')).answer('reject');
  assert.equal((await other).isError, true);
});

const loosens = { '.pillion/settings.json': '{"permissions": {"allow": ["run_command(cat words.txt)"]}}\n' };

ride('a project’s settings loosen nothing until they are trusted, and nothing again when they change', { ...files, ...loosens }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.sees(/settings\.json would loosen 1 rule/);
  const agent = await it.agent();
  const cat = { command: 'cat words.txt' };
  const asks = async () => {
    const call = agent.call('run_command', cat);
    await (await nvim.dialog('cat words.txt')).answer('reject');
    assert.equal((await call).structured.error.code, 'USER_REJECTED');
  };
  await asks();
  await nvim.command('Pillion trust');
  await nvim.sees(/This project wants to allow more without asking[^]*run_command\(cat words\.txt\)/);
  nvim.screenshot('trust');
  await (await nvim.dialog('allow more without asking')).answer('approve');
  await eventually('it counts', async () => (await nvim.messages()).includes('trusted until the file changes'));
  assert.equal((await agent.call('run_command', cat)).structured.stdout, files['words.txt']);
  sandbox.write('.pillion/settings.json', loosens['.pillion/settings.json'].replace('cat words', 'cat *"')); // not even JSON
  await asks();
  sandbox.write('.pillion/settings.json', loosens['.pillion/settings.json'].replace('cat words.txt', 'cat *'));
  await asks();
  await nvim.command('Pillion trust');
  await nvim.sees('run_command(cat *)');
  await (await nvim.dialog('allow more without asking')).answer('reject');
  await eventually('it is ignored', async () => (await nvim.messages()).includes('ignored until the file changes'));
  await asks();
  await nvim.command('Pillion trust');
  await eventually('nothing is asked', async () => (await nvim.messages()).includes('no project\'s settings need your trust'));
});

ride('a command cannot reach the Neovim that it runs in', files, async (it) => {
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'env' });
  await (await it.nvim.dialog('env')).answer('approve');
  const { stdout } = (await call).structured;
  assert.match(stdout, /^HOME=/m);
  assert.doesNotMatch(stdout, /^(NVIM|VIM|PILLION)/m);
});

ride('an agent asks the user something', files, async (it) => {
  const { nvim } = it;
  await nvim.press('i');
  const agent = await it.agent();
  const call = agent.call('prompt_user', { message: 'Which colour?', actions: ['red', 'blue'] });
  await eventually('it waits', async () => (await nvim.waits()) === 1);
  await nvim.sees('scripted-agent asks: Which colour?');
  nvim.screenshot('prompt-announced');
  await nvim.type('blue'); // no answer: it goes where the user is typing
  await nvim.press('<Esc>');
  assert.match((await nvim.lines('words.txt'))[0], /^blue/);
  await nvim.pick(/Which colour/);
  await nvim.sees(/red[^]*blue/);
  nvim.screenshot('prompt');
  await nvim.choose(/blue/);
  assert.equal((await call).structured.action, 'blue');

  const free = agent.call('prompt_user', { message: 'Which colour for the lid?', actions: ['red', 'blue'] });
  await eventually('it waits', async () => (await nvim.waits()) === 1);
  await nvim.pick(/for the lid/);
  await nvim.choose(/Write an answer/);
  await nvim.sees('Answer:');
  await nvim.press('green, as the door<CR>');
  assert.equal((await free).structured.feedback, 'green, as the door');
}, { opened: 'words.txt' });

ride('an agent in a terminal of Neovim finds the Neovim that it runs in', files, async (it) => {
  const { nvim, sandbox } = it;
  const steps = path.join(sandbox.root, 'steps.json');
  fs.writeFileSync(steps, JSON.stringify([{ Say: 'I look around.', Tool: 'run_command', Arguments: { command: 'cat words.txt' } }]));
  await nvim.command(`terminal ${process.execPath} ${path.join(tree, 'scripts/lib/sample-agent.mjs')} ${steps}`);
  await (await nvim.dialog('cat words.txt')).answer('approve');
  await nvim.sees(/beta\n/);
  nvim.screenshot('agent-in-a-terminal');
});

ride('the user changes the command: theirs is run, and the agent is told', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'rm words.txt' });
  const dialog = await nvim.dialog('rm words.txt');
  await dialog.show();
  await nvim.command('Pillion edit');
  await nvim.press('ccls<Esc>');
  await nvim.sees(/^ls$/m);
  nvim.screenshot('command-edited');
  await dialog.answer('approve');
  const { structured } = await call;
  assert.equal(structured.edited_by_human, true);
  assert.equal(structured.stdout, 'count.sh\nwords.txt\n');
  assert.equal(it.sandbox.exists('words.txt'), true);

  const more = agent.call('run_command', { command: 'sh count.sh' });
  const harmless = await nvim.dialog('sh count.sh');
  await harmless.show();
  await nvim.command('Pillion edit');
  await nvim.press('ccrm words.txt<Esc>');
  await nvim.sees(/^rm words\.txt$/m);
  await nvim.sees(/Yours is checked/);
  await harmless.answer('approve');
  const again = await nvim.dialog('rm words.txt');
  await again.show();
  await nvim.sees(/deletes files[^]*Edited +by you/);
  nvim.screenshot('command-edited-to-do-more');
  assert.equal(it.sandbox.exists('words.txt'), true);
  await again.answer('approve');
  assert.equal((await more).structured.edited_by_human, true);
  assert.equal(it.sandbox.exists('words.txt'), false);
});

ride('the user sets an agent’s mode: planning changes nothing, automatic edits ask no more', files, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  await agent.call('read_file', { path: 'words.txt' });
  const edit = { path: 'words.txt', old_string: 'alpha', new_string: 'ALPHA' };
  await nvim.command('Pillion mode plan');
  await nvim.sees(/scripted-agent · plan/);
  assert.equal((await agent.call('edit_file', edit)).structured.error.code, 'POLICY_DENIED');
  await nvim.command('Pillion mode auto_edit');
  await nvim.sees(/scripted-agent · auto_edit/);
  assert.equal((await agent.call('edit_file', edit)).isError, false);
  assert.equal(sandbox.read('words.txt').startsWith('ALPHA'), true);
  assert.equal(await nvim.waits(), 0);
});
