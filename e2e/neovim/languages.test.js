/** Language servers in a real Neovim: the user's own answers for agents, and an agent's edit says what it broke. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '../rig/expect.js';
import { ride, takePictures } from './ride.js';

const kettle = `"""Keeps water warm."""


def boil(litres):
    """Heats so many litres."""
    return litres * 4.2


print(boil(2))
`;
const files = { 'kettle.py': kettle, 'README.md': '# Kettle\n' };

/** What a user writes who has pylsp in Neovim. @param {...string} command */
const has = (...command) => `vim.api.nvim_create_autocmd('FileType', { pattern = 'python', callback = function()
  vim.lsp.start({ name = 'pylsp', cmd = vim.json.decode([==[${JSON.stringify(command)}]==]), root_dir = vim.fn.getcwd() })
end })
`;
const pylsp = has('pylsp');

takePictures();

/** @param {import('./neovim.js').Neovim} nvim */
const attached = (nvim) => eventually('pylsp is attached', () => nvim.lua(`
  local one = vim.lsp.get_clients({ name = 'pylsp', bufnr = 0 })[1]
  return one ~= nil and one.initialized == true`));

/** A server's first answer takes it seconds, for which nobody waits who can ask another one. @param {import('./neovim.js').Neovim} nvim */
const awake = (nvim) => nvim.lua(`return vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-16'), 80000) ~= nil`);

ride('the user’s own server answers for an agent, about the text as it is typed', files, async (it) => {
  const { nvim, sandbox } = it;
  await attached(nvim);
  await awake(nvim);
  await nvim.press('ggOimport sys<CR><CR><CR>def boil_twice(litres):<CR>return boil(litres) * 2<Esc>');
  const agent = await it.agent();
  const lines = await nvim.lines('kettle.py');
  const line = lines.findIndex((text) => text.includes('return boil(litres)'));
  const at = { path: 'kettle.py', line, character: lines[line].indexOf('boil') };
  const definition = await agent.call('lsp_definition', at);
  assert.deepEqual([definition.structured.server_status, definition.structured.server], ['editor', 'pylsp'], definition.text);
  const defined = lines.findIndex((text) => text.startsWith('def boil(litres)'));
  assert.deepEqual([definition.structured.location.path, definition.structured.location.range.start], ['kettle.py', { line: defined, character: 4 }]);
  const hover = await agent.call('lsp_hover', at);
  assert.equal(hover.structured.server_status, 'editor', hover.text);
  assert.match(hover.structured.contents, /Heats so many litres/);
  const references = await agent.call('lsp_references', at);
  assert.equal(references.structured.server_status, 'editor', references.text);
  assert.equal(references.structured.count, 3, references.text);
  const symbols = await agent.call('lsp_symbols', { path: 'kettle.py' });
  assert.equal(symbols.structured.server_status, 'editor', symbols.text);
  assert.match(JSON.stringify(symbols.structured.symbols), /boil_twice/);
  assert.equal(await nvim.modified('kettle.py'), true);
  assert.equal(sandbox.read('kettle.py'), kettle);
  nvim.screenshot('languages');
}, { opened: 'kettle.py', init: pylsp, setup: `require('pillion').setup({ settings = { languageServers = { servers = { pylsp = { enabled = false } } } } })\n` });

ride('the health report names the languages, their servers and those of the user', files, async (it) => {
  const { nvim } = it;
  await attached(nvim);
  await nvim.command('checkhealth pillion');
  const report = await eventually('the report is there', async () => {
    const text = (await nvim.lines()).join('\n');
    return /pillion: agents/.test(text) && text;
  });
  assert.match(report, /OK python: pylsp, in 1 open file; asked before Pillion's own/);
  assert.match(report, /pillion: languages ~\n- OK python: 1 file: pylsp/);
  await nvim.sees('your language servers');
  nvim.screenshot('languages-health');
}, { opened: 'kettle.py', init: pylsp });

ride('a server of the user’s that stands still holds up nobody', files, async (it) => {
  const { nvim, sandbox } = it;
  await attached(nvim);
  const agent = await it.agent();
  await eventually('Pillion’s own can answer', async () => (await agent.call('lsp_diagnostics', { path: 'kettle.py' })).structured.status === 'fresh');
  const pid = Number(fs.readFileSync(path.join(sandbox.home, 'pid'), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  try {
    const call = agent.call('lsp_hover', { path: 'kettle.py', line: 8, character: 7 });
    await nvim.press('ihands are free');
    await nvim.sees('hands are free');
    const { structured, text } = await call;
    assert.equal(structured.server_status, 'running', text);
    assert.match(structured.contents, /Heats so many litres/);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}, { opened: 'kettle.py', init: has('sh', '-c', 'echo $$ > $HOME/pid; exec pylsp') });

const edits = { setup: `require('pillion').setup({ settings = { mode = 'auto_edit', languageServers = { editWaitSeconds = 60 } } })\n` };
/** A name that nobody defined. */
const mistake = { path: 'kettle.py', old_string: 'litres * 4.2', new_string: 'litre * 4.2' };

ride('an edit that breaks something says so, and the next one that it is mended', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const before = await agent.call('lsp_diagnostics', { path: 'kettle.py' });
  assert.deepEqual([before.structured.status, before.structured.count], ['fresh', 0], before.text);
  const broke = await agent.call('edit_file', mistake);
  assert.equal(broke.isError, false, broke.text);
  assert.match(broke.text, /^Changed kettle.py[^]*The change caused 1 error in kettle.py \(fresh, pylsp\)[^]*undefined name 'litre'/);
  const { diagnostics } = broke.structured;
  assert.deepEqual([diagnostics.status, diagnostics.new.length, diagnostics.fixed.length], ['fresh', 1, 0], broke.text);
  assert.equal(diagnostics.new[0].range.start.line, 5);
  nvim.screenshot('languages-broken');
  const mended = await agent.call('edit_file', { ...mistake, old_string: mistake.new_string, new_string: mistake.old_string });
  assert.deepEqual([mended.structured.diagnostics.new.length, mended.structured.diagnostics.fixed.length], [0, 1], mended.text);
}, { opened: 'kettle.py', ...edits });

ride('with the diagnostics of the editor preferred, those of the user’s server are told, and called stale', files, async (it) => {
  const { nvim } = it;
  await attached(nvim);
  await nvim.press('/4.2<CR>ilitre * <Esc>');
  await nvim.sees("undefined name 'litre'");
  const agent = await it.agent();
  const { structured, text } = await agent.call('lsp_diagnostics', { path: 'kettle.py' });
  assert.deepEqual([structured.status, structured.server_status, structured.server], ['stale', 'editor', 'pylsp'], text);
  assert.match(text, /undefined name 'litre'/);
}, { opened: 'kettle.py', init: pylsp, setup: `require('pillion').setup({ settings = { languageServers = { diagnostics = 'editor' } } })\n` });
