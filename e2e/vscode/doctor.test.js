/** Pillion: Doctor, and the walkthrough, in a real VS Code. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ride, shareEditor } from './ride.js';
import { eventually } from '../rig/expect.js';

const files = { 'README.md': '# Kettle\n', 'kettle/clock.py': 'tick = 1\n' };

shareEditor();

ride('the doctor shows what it found on a read-only page', files, async (it) => {
  const { window, sandbox } = it;
  fs.mkdirSync(path.join(sandbox.home, '.codex'));
  fs.writeFileSync(path.join(sandbox.home, '.codex/config.toml'), '[mcp_servers.pillion]\ncommand = "/bin/true"\nargs = ["mcp"]\n');
  await window.command('Pillion: Doctor');
  await window.tab('Pillion Doctor').waitFor();
  const page = window.group('Pillion Doctor').locator('.editor-instance .monaco-editor').first();
  const text = await eventually('the page tells the verdict', async () => {
    const shown = await window.text(page);
    return /^Pillion \d+\.\d+\.\d+\S* works here, and 1 agent is not/.test(shown) && shown;
  });
  assert.match(text, /✓ program +\d+\.\d+\.\d+\S*, built with go/);
  assert.match(text, /✓ workspace +.*project, git repository, small: 2 files in 2 folders/);
  assert.match(text, /✓ open in +\S/);
  assert.ok(!text.includes(sandbox.home), 'the home folder is written ~');
  await window.screenshot('doctor');
  await window.press('x'); // it is not for writing
  assert.equal((await window.tabs()).some((tab) => tab.startsWith('*')), false);
  await window.press('Control+End');
  await eventually('the agents are told at the end', async () => /! Codex .*can still act unseen/s.test(await window.text(page)));
  await window.screenshot('doctor-end');
});

const large = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`part${i % 4}/file${i}.txt`, `a line of file${i}.\n`.repeat(60_000)]));

ride('a large project is indexed by the first search, and the status bar and the doctor say how large that is', large, async (it) => {
  const { window } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('search_in_project', { query: 'nothing like it' })).structured.files_searched, 24);
  await eventually('the status bar says so', async () => /Search index: 24 files, 1 MB of memory/.test(await window.status()));
  await window.screenshot('indexed');
  assert.equal((await agent.call('search_in_project', { query: 'of file17.', max_matches: 1 })).structured.matches[0].path, 'part1/file17.txt');
  await window.command('Pillion: Doctor');
  const page = window.group('Pillion Doctor').locator('.editor-instance .monaco-editor').first();
  await eventually('the doctor says so', async () => /search index: 24 files, 1 MB of memory/.test(await window.text(page)));
});

ride('the walkthrough ticks itself up to the first approved edit', files, async (it) => {
  const { window } = it;
  await window.command('Pillion: Get Started');
  const walkthrough = window.page.locator('.gettingStartedContainer');
  await walkthrough.getByText('Pillion: the first edit of your own agent').first().waitFor();
  const step = (/** @type {string} */ title) => walkthrough.locator('.getting-started-step', { hasText: title });
  const ticked = (/** @type {string} */ title) => eventually(`“${title}” is ticked`, async () => (await step(title).locator('[role="checkbox"][aria-checked="true"]').count()) > 0);
  const open = (/** @type {string} */ title) => eventually(`“${title}” is not ticked`, async () => (await step(title).locator('[role="checkbox"][aria-checked="false"]').count()) > 0);
  await ticked('Pillion runs');
  await open('Answer it');
  await window.screenshot('walkthrough');
  const agent = await it.agent();
  const call = agent.call('write_file', { path: 'README.md', content: '# Kettle\n\nA timer for tea.\n' });
  const dialog = await window.dialog(/README\.md: .* proposes/);
  await dialog.press('Approve');
  assert.equal((await call).isError ?? false, false);
  await window.command('Pillion: Get Started'); // opened anew, it knows what was done
  await ticked('Ask it for a small edit');
  await ticked('Answer it');
  await open('Connect your agent');
  const picture = window.page.locator('iframe.webview').contentFrame().locator('iframe#active-frame').contentFrame();
  await picture.getByText('writes these 3 files').waitFor();
  await window.screenshot('walkthrough-done');
});

ride('an agent is connected on a page that shows what would be written', files, async (it) => {
  const { window, sandbox } = it;
  await window.command('Pillion: Connect an Agent…');
  const row = window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Qwen Code' });
  await row.filter({ hasText: /not found on this machine|installed, not connected/ }).waitFor();
  await window.screenshot('connect-agents');
  await row.click();
  const plan = await window.dialog('Connect Qwen Code');
  await eventually('the page says which tools are turned off', async () => /turns off Qwen Code's own tools[^]*run_shell_command/.test(await plan.pageText()));
  await window.rest();
  await window.screenshot('connect-agent');
  const settings = path.join(sandbox.home, '.qwen/settings.json');
  assert.equal(fs.existsSync(settings), false);
  await window.command('Pillion: Connect an Agent…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Codex' }).click();
  await window.dialog('Connect Codex'); // which is another page: the first one writes what it shows
  await window.tab('Connect Qwen Code').click();
  await plan.press('Connect');
  const done = await window.dialog('Qwen Code Is Connected');
  await eventually('the page says that it is connected', async () => /Qwen Code is connected/.test(await done.pageText()));
  assert.match(fs.readFileSync(settings, 'utf8'), /"pillion"/);
  assert.equal(fs.existsSync(path.join(sandbox.home, '.codex/config.toml')), false);
  await window.screenshot('connect-agent-connected');
});

ride('an agent is started in a terminal, and gets a selection into its prompt, which nothing sends', files, async (it) => {
  const { window, sandbox } = it;
  fs.writeFileSync(path.join(sandbox.home, '.bashrc'), 'opencode() { echo "I am here: ${PWD##*/}"; read -er wish; echo "sent: $wish"; }\n');
  await window.openFile('README.md');
  await window.command('Pillion: Start an Agent…');
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'opencode' }).click();
  await eventually('its program runs in the project', async () => /I am here: project/.test(await window.terminal()));
  await window.tab('README.md').click();
  await window.press('Control+a');
  await window.command('Pillion: Send Selection to the Agent');
  await eventually('the lines stand in its prompt', async () => /README\.md:1-2[^]*# Kettle/.test(await window.terminal()));
  await window.screenshot('agent-terminal');
  assert.doesNotMatch(await window.terminal(), /sent:/);
  await window.press('Enter');
  await eventually('it gets them when the user sends them', async () => /sent: README\.md:1-2/.test(await window.terminal()));
  await window.type('exit\n'); // VS Code keeps a terminal for the next window
});

ride('a wrong pillion.path is said as long as it is wrong', files, async (it) => {
  const { window } = it;
  const told = async () => (await window.notifications()).some((text) => /no-such-program/.test(text));
  it.set({ 'pillion.path': '/no-such-program' });
  await eventually('it is said', told);
  await window.page.locator('.notifications-toasts').getByText('What to Do…').click();
  await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Open Setting' }).waitFor();
  await window.screenshot('wrong-path');
  it.set({});
  await window.ready();
  await eventually('nothing says it any more', async () => !(await told()));
});
