// What `bench.mjs editor` measures: from an agent's call to its proposed change painted in a real VS Code, next to a file
// that VS Code opens by itself in the same window. Both ends read one clock.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { median } from './bench-files.mjs';

const times = 20;

export async function editorRows({ root, row }) {
  execFileSync(path.join(root, 'scripts/vsix.sh'), { stdio: 'ignore' });
  execFileSync(path.join(root, 'scripts/npm-ci.sh'), [path.join(root, 'e2e')], { stdio: 'ignore' });
  const rig = (file) => import(path.join(root, 'e2e', file));
  const [{ Sandbox }, { CodeServer }, { rememberingBrowser }, { Workbench }, { Agent }, { eventually }, { edit, files }] = await Promise.all([
    'rig/sandbox.js', 'vscode/code-server.js', 'rig/browser.js', 'vscode/workbench.js', 'rig/agent.js', 'rig/expect.js', 'rig/greeting.js',
  ].map(rig));
  const sandbox = Sandbox.create({ ...files, 'other.py': 'print("other")\n' });
  const server = await CodeServer.start(sandbox);
  const chromium = await rememberingBrowser(path.join(sandbox.root, 'chromium'));
  try {
    server.prepare();
    const window = await Workbench.open(chromium, server, sandbox.project);
    await window.ready();
    const agent = await Agent.start(sandbox);
    const painted = (selector, text) => window.page.evaluate(paint, [selector, text]);
    const took = { proposal: [], file: [] };
    for (let n = 0; n < times; n++) {
      const shown = painted('.modified-in-monaco-diff-editor .view-lines', edit.new_string);
      const called = Date.now();
      const call = agent.call('edit_file', edit);
      took.proposal.push(await shown - called);
      await (await window.dialog(/proposes/)).press('Reject');
      await call;
      await eventually('nothing is open', async () => (await window.tabs()).length === 0);
      await window.press('Control+p');
      await window.type('other.py');
      await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'other.py' }).first().waitFor();
      const opened = painted('.editor-instance .view-lines', 'print("other")');
      const pressed = Date.now();
      await window.press('Enter');
      took.file.push(await opened - pressed);
      await window.command('workbench.action.closeAllEditors');
      await eventually('nothing is open', async () => (await window.tabs()).length === 0);
    }
    await agent.close();
    await window.close();
    row(`in VS Code, from a call to its painted diff, against opening a file from the list (${times} times)`, median(took.proposal), median(took.file), 'ms');
  } finally {
    await chromium.close();
    await server.stop();
    await sandbox.dispose();
  }
}

/** In the page: when the frame is through that first shows the text, in milliseconds since 1970. */
function paint([selector, text]) {
  return new Promise((resolve) => {
    const look = () => {
      const lines = [...document.querySelectorAll(selector)].map((all) => all.textContent.replaceAll('\u00a0', ' '));
      if (lines.some((line) => line.includes(text))) requestAnimationFrame(() => resolve(Date.now()));
      else requestAnimationFrame(look);
    };
    look();
  });
}
