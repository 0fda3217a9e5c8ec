/** Questions about code in a real VS Code: an agent is told what its edit broke, and VS Code's own servers answer for it. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { edited, files } from '../rig/greeting.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('an edit that breaks the file: its result names the error, and the list of activity says so', files, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('greet.py');
  const agent = await it.agent();
  await eventually('what is wrong before the edit is known', async () => (await agent.call('lsp_diagnostics', { path: 'greet.py' })).structured.status === 'fresh');
  const call = agent.call('edit_file', { path: 'greet.py', old_string: '"Hello " + name', new_string: 'f"Hello, {nane}!"' });
  await (await window.dialog(/greet\.py.*proposes/)).press('Approve');
  const broken = await call;
  assert.equal(broken.isError, false, broken.text);
  assert.equal(sandbox.read('greet.py'), edited.replace('{name}', '{nane}'));
  const { status, server, new: caused } = broken.structured.diagnostics;
  assert.deepEqual({ status, server, caused: caused.map((/** @type {any} */ one) => one.message) }, { status: 'fresh', server: 'pylsp', caused: ["undefined name 'nane'"] }, broken.text);
  assert.match(broken.text, /caused 1 error.*\n.*greet\.py:1:\d+ error undefined name 'nane'/s);
  await eventually('the list of activity says so', async () => (await window.activity()).some((row) => /caused 1 error/.test(row)));
  assert.deepEqual((await window.notifications()).filter((message) => !/wants to edit/.test(message)), [], 'nothing pops up because of that');
  await window.screenshot('edit-that-breaks');
  await window.pressInView('caused 1 error', 'Go to the Problem', 'Activity');
  await eventually('the cursor is at the error', async () => /Ln 2, Col 22/.test(await window.page.locator('.part.statusbar').innerText()));

  const mending = agent.call('edit_file', { path: 'greet.py', old_string: 'nane', new_string: 'name' });
  await (await window.dialog(/greet\.py.*proposes/)).press('Approve');
  const mended = (await mending).structured.diagnostics;
  assert.deepEqual({ new: mended.new, fixed: mended.fixed.length, remaining: mended.remaining }, { new: [], fixed: 1, remaining: 0 });
}, { settings: { 'pillion.languageServers.editWaitSeconds': 30 } }); // however busy the machine is

const project = {
  'tsconfig.json': '{"compilerOptions": {"strict": true}}\n',
  'tea.ts': '/** Boils it. */\nexport function brew(leaves: number): string {\n  return `tea of ${leaves}`;\n}\n',
  'cup.ts': 'import { brew } from "./tea";\n\nconsole.log(brew(3));\n',
};

ride('the server that VS Code runs answers, about what is typed and not saved', project, async (it) => {
  const { window, sandbox } = it;
  await window.openFile('cup.ts');
  await window.press('Control+End');
  await window.type('const mug: number = brew(4);');
  const agent = await it.agent();
  const mug = { path: 'cup.ts', line: 3, character: 21 };
  await eventually('the agent sees what is typed', async () => (await agent.call('read_file', { path: 'cup.ts' })).structured.content.includes('brew(4);'));
  // A server that has just been started reads the project first, and knows this file alone until then.
  const definition = await eventually('it is found in the other file', async () => {
    const { structured } = await agent.call('lsp_definition', mug);
    return structured.location?.path === 'tea.ts' && structured;
  });
  assert.equal(definition.server_status, 'editor');
  assert.deepEqual(definition.location.range.start, { line: 1, character: 16 });

  const hover = await agent.call('lsp_hover', { ...mug, character: 7 });
  assert.equal(hover.structured.server_status, 'editor', hover.text);
  assert.match(hover.structured.contents, /const mug: number/);

  const references = await agent.call('lsp_references', { path: 'tea.ts', line: 1, character: 17, include_declaration: false });
  assert.equal(references.structured.server_status, 'editor', references.text);
  assert.deepEqual(references.structured.references.map((/** @type {any} */ one) => `${one.path}:${one.range.start.line}`).sort(), ['cup.ts:0', 'cup.ts:2', 'cup.ts:3']);

  const wrong = await eventually('what is wrong is known', async () => {
    const { structured } = await agent.call('lsp_diagnostics', { path: 'cup.ts' });
    return structured.count > 0 && structured;
  });
  assert.deepEqual([wrong.server_status, wrong.status, wrong.diagnostics[0].code, wrong.diagnostics[0].range.start], ['editor', 'stale', 2322, { line: 3, character: 6 }]);

  const symbols = await agent.call('lsp_symbols', { path: 'tea.ts' });
  assert.deepEqual(symbols.structured.symbols.map((/** @type {any} */ one) => `${one.kind} ${one.name}`), ['function brew'], symbols.text);
  assert.deepEqual(await window.tabs(), ['* cup.ts'], 'what is looked at is not shown');
  assert.equal(sandbox.read('cup.ts'), project['cup.ts']);
  assert.deepEqual(sandbox.running(/typescript-language-server/), []);
  await window.screenshot('editors-own-server');
}, { settings: { 'pillion.languageServers.diagnostics': 'editor' } });
