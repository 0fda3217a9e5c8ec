/** pillion.nvim as a package manager has it: cloned from a repository, with nothing else on the machine. The program is fetched. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Neovim } from '../neovim/neovim.js';
import { eventually } from '../rig/expect.js';
import { artifacts, part, tree } from '../rig/places.js';
import { Sandbox } from '../rig/sandbox.js';

const release = path.join(artifacts, 'release');
const version = /^## (\d+\.\d+\.\d+)/m.exec(fs.readFileSync(path.join(tree, 'CHANGELOG.md'), 'utf8'))?.[1] ?? '';

/** The plugin, cloned to where Neovim finds packages. @param {Sandbox} sandbox */
function clone(sandbox) {
  const repository = path.join(sandbox.root, 'pillion.nvim');
  execFileSync('tar', ['-xf', path.join(release, `pillion.nvim-${version}.tar.gz`), '-C', sandbox.root]);
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-c', 'user.name=Rider', '-c', 'user.email=rider@example.com', ...args], { cwd: repository, env: sandbox.env, stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=release');
  const place = path.join(sandbox.home, '.local/share/nvim/site/pack/managed/start/pillion.nvim');
  git('clone', '--quiet', `file://${repository}`, place);
  return place;
}

/** @param {(sandbox: Sandbox, plugin: string) => Promise<void> | void} body */
function withPlugin(body) {
  return async () => {
    const sandbox = Sandbox.create({ 'README.md': '# Kettle\n' });
    try {
      await body(sandbox, clone(sandbox));
    } finally {
      await sandbox.dispose();
    }
  };
}

/** The build step, as lazy.nvim starts it: in a Neovim that has the plugin. @param {Sandbox} sandbox @param {string} plugin @param {string} releases */
function build(sandbox, plugin, releases) {
  const args = ['--headless', '-i', 'NONE', '-n', '-u', 'NONE', '--cmd', `set rtp^=${plugin}`, '-l', path.join(plugin, 'build.lua')];
  return spawnSync(path.join(part('neovim'), 'bin/nvim'), args, { cwd: sandbox.project, env: { ...sandbox.env, PILLION_RELEASES: releases }, encoding: 'utf8' });
}

test('without a build step, the first start fetches the program and goes on', withPlugin(async (sandbox, plugin) => {
  const init = `vim.env.PATH = vim.env.PATH:gsub("^[^:]*:", "")\nvim.env.PILLION_RELEASES = ${JSON.stringify(release)}\n`;
  const nvim = await Neovim.start(sandbox, { plugin: false, init, args: ['README.md'] });
  try {
    const status = await eventually('the sidecar is ready', async () => {
      const now = await nvim.lua('return require("pillion").status()');
      return now.state === 'ready' && now;
    });
    assert.deepEqual([status.version, status.path], [version, path.join(plugin, 'bin/pillion')]);
    assert.deepEqual(fs.readdirSync(path.join(plugin, 'bin')), ['pillion']);
  } finally {
    await nvim.close();
  }
}));

test('the build step fetches the program', withPlugin((sandbox, plugin) => {
  const built = build(sandbox, plugin, `file://${release}`);
  assert.equal(built.status, 0, built.stderr);
  assert.match(execFileSync(path.join(plugin, 'bin/pillion'), ['version'], { encoding: 'utf8' }), new RegExp(`^pillion ${version} `));
}));

test('a program with another hash is not kept', withPlugin((sandbox, plugin) => {
  const name = `pillion-${version}-linux-amd64`;
  const forged = path.join(sandbox.root, 'forged');
  fs.mkdirSync(path.join(forged, name), { recursive: true });
  fs.writeFileSync(path.join(forged, name, 'pillion'), '#!/bin/sh\n', { mode: 0o755 });
  execFileSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: forged });
  const built = build(sandbox, plugin, forged);
  assert.notEqual(built.status, 0);
  assert.match(built.stderr, /what was fetched is not the program of this plugin: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}/);
  assert.deepEqual(fs.readdirSync(path.join(plugin, 'bin')), []);
}));

test('an address without the release says so', withPlugin((sandbox, plugin) => {
  const built = build(sandbox, plugin, path.join(sandbox.root, 'nowhere'));
  assert.match(built.stderr, /the pillion program could not be fetched: curl failed: /);
}));
