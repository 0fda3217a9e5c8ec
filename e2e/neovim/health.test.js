/** `:checkhealth pillion` in a real Neovim: what `pillion doctor` finds, and how Neovim stands to it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ride, takePictures } from './ride.js';
import { eventually } from '../rig/expect.js';

const files = { 'README.md': '# Kettle\n', 'kettle/clock.py': 'tick = 1\n' };

takePictures();

/** Opens the report and answers its text. @param {import('./neovim.js').Neovim} nvim @param {string} [line] */
async function report(nvim, line = 'Pillion doctor') {
  await nvim.command(line);
  return eventually('the report is there', async () => {
    const lines = await nvim.lines();
    return lines.some((text) => text.startsWith('pillion: ')) && lines.length > 3 && lines.join('\n');
  });
}

ride('it tells of the sidecar, its files, the program and the folder', files, async (it) => {
  const { nvim, sandbox } = it;
  const text = await report(nvim);
  assert.match(text, /OK (✅ )?0\.\d+\.\d+|✅ OK 0\.\d+/);
  assert.match(text, /OK ~\/|OK .*project: ready, pillion \d+\.\d+\.\d+.*, 1 open file$/m);
  assert.match(text, /OK program: \d+\.\d+\.\d+\S*, built with go/);
  assert.match(text, /OK workspace: .*project, git repository, small: 2 files in 2 folders/);
  assert.match(text, /OK open in: Neovim/);
  assert.match(text, /none is attached to open files in markdown/);
  assert.match(text, /languages.*\n(.*\n)*.*python: 1 file: pylsp/);
  assert.ok(!text.includes(sandbox.home), 'the home folder is written ~');
  nvim.screenshot('checkhealth');
}, { opened: 'README.md' });

const large = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`part${i % 4}/file${i}.txt`, `a line of file${i}.\n`.repeat(60_000)]));

ride('a large project is indexed by the first search, and the report says how large that is', large, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  assert.equal((await agent.call('search_in_project', { query: 'nothing like it' })).structured.files_searched, 24);
  await eventually('the index is there', async () => (await nvim.lua('local found; require("pillion.client").each(function(one) found = require("pillion.tracking").index_line(one) end); return found or ""')) === 'search index: 24 files, 1 MB of memory');
  assert.match(await report(nvim, 'checkhealth pillion'), /search index: 24 files, 1 MB of memory/);
  nvim.screenshot('checkhealth-index');
});

ride('an agent that can act unseen is a warning with the way out', files, async (it) => {
  const { nvim, sandbox } = it;
  fs.mkdirSync(path.join(sandbox.home, '.codex'));
  fs.writeFileSync(path.join(sandbox.home, '.codex/config.toml'), '[mcp_servers.pillion]\ncommand = "/bin/true"\nargs = ["mcp"]\n');
  const text = await report(nvim, 'checkhealth pillion');
  assert.match(text, /WARNING Codex: not on PATH; .*it can still act unseen, with its own apply_patch, exec_command/);
  assert.match(text, /ADVICE:\n\s+- pillion mcp install codex/);
});

ride('without the program, or with one that is no doctor, it says so', files, async (it) => {
  const old = path.join(it.sandbox.home, 'old-pillion');
  fs.writeFileSync(old, '#!/bin/sh\necho "unknown command" >&2\nexit 2\n', { mode: 0o755 });
  const nvim = it.nvim;
  await nvim.command(`lua require('pillion.config').current.path = '${old}'`);
  assert.match(await report(nvim), /ERROR .*cannot read what .*old-pillion doctor printed \(exit code 2\): unknown command/);
  await nvim.command(`lua require('pillion.config').current.path = '/nonexistent/pillion'`);
  await nvim.command('bwipeout!');
  assert.match(await report(nvim), /ERROR the option path names \/nonexistent\/pillion/);
});
