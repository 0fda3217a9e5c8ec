/** `:help pillion` as the real Neovim reads it, and what docs/clients.md says of Neovim's own LSP client. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { part, tree } from '../rig/places.js';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'pillion-help-'));
const plugin = path.join(home, '.local/share/nvim/site/pack/any/start/pillion');
const help = fs.readFileSync(path.join(tree, 'nvim-plugin/doc/pillion.txt'), 'utf8');

before(() => { fs.cpSync(path.join(tree, 'nvim-plugin'), plugin, { recursive: true }); });
after(() => { fs.rmSync(home, { recursive: true }); });

/** What a Lua function body answers in a Neovim that has the plugin as a package, as JSON. @param {string} body @param {unknown} [given] */
function ask(body, given) {
  const script = path.join(home, 'ask.lua');
  fs.writeFileSync(script, `vim.g.pillion_autostart = false
    vim.cmd('packloadall')
    local given = vim.json.decode(${JSON.stringify(JSON.stringify(given ?? null))})
    io.stdout:write(vim.json.encode((function() ${body} end)()))`);
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' };
  return JSON.parse(execFileSync(path.join(part('neovim'), 'bin/nvim'), ['--headless', '-i', 'NONE', '-l', script], { env, encoding: 'utf8' }));
}

/** @param {RegExp} what */
function found(what) {
  return [...new Set([...help.matchAll(what)].map((match) => match[1]))];
}

test('helptags takes it, and every tag that it links to is there', () => {
  const links = found(/(?<=^|[\s(,])\|([^\s|]+)\|/gm);
  assert.ok(links.length > 10, `only ${links.length} links`);
  const dead = ask(`vim.cmd.helptags(${JSON.stringify(path.join(plugin, 'doc'))})
    return vim.tbl_filter(function(tag)
      local ok = pcall(vim.cmd.help, { args = { tag }, mods = { silent = true } })
      return not (ok and vim.fn.search('\\\\V*' .. vim.fn.escape(tag, '\\\\') .. '*', 'cw') > 0)
    end, given)`, links);
  assert.deepEqual(dead, []);
});

test('it fits a window of 78 columns', () => {
  const wide = help.split('\n').filter((line) => [...line].length > 78 && !line.includes('vim:'));
  assert.deepEqual(wide, []);
});

test('it describes every subcommand of :Pillion, and no other', () => {
  const described = found(/\*:Pillion-([a-z]+)\*/g);
  assert.ok(described.length > 8, `only ${described.length}`);
  assert.deepEqual(described.sort(), ask(`return vim.fn.getcompletion('Pillion ', 'cmdline')`).sort());
});

test('what Neovim\'s own LSP client does is what docs/clients.md says', () => {
  const page = fs.readFileSync(path.join(tree, 'docs/clients.md'), 'utf8');
  const [, sent, received] = page.split(/^## .*$/m);
  const rows = (/** @type {string} */ text) => [...text.matchAll(/^\| `(\S+)` \| LSP \| (LSP|–) \|/gm)].map(([, name, how]) => ({ name, does: how === 'LSP' }));
  assert.ok(rows(sent).length > 5 && rows(received).length > 1, 'the tables are written in another way now');

  const handled = ask('return vim.tbl_map(function(name) return vim.lsp.handlers[name] ~= nil end, given)', rows(received).map((row) => row.name));
  assert.deepEqual(rows(received).map((row) => row.does), handled, `of ${JSON.stringify(rows(received))}`);

  const source = clientSource(ask('return vim.env.VIMRUNTIME'));
  const inSource = rows(sent).map(({ name }) => {
    const constant = name.replace('$/', 'dollar_').replaceAll('/', '_');
    return new RegExp(`ms\\.${constant}\\b|['"]${name.replace('$', '\\$')}['"]`).test(source);
  });
  assert.deepEqual(rows(sent).map((row) => row.does), inSource, `of ${JSON.stringify(rows(sent))}`);
});

/** The LSP client, without its list of all names that LSP has. @param {string} runtime */
function clientSource(runtime) {
  const folder = path.join(runtime, 'lua/vim/lsp');
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.lua') && name !== 'protocol.lua').map((name) => path.join(folder, name));
  return [`${folder}.lua`, ...files].map((file) => fs.readFileSync(file, 'utf8')).join('\n');
}
