/** Each artefact of `make release` is installed as a user would, and used: what it installs says its version, and answers an agent. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { artifacts, part, program, tree } from '../rig/places.js';
import { Sandbox } from '../rig/sandbox.js';
import { registry } from './registry.js';

const release = path.join(artifacts, 'release');
const version = /^## (\d+\.\d+\.\d+)/m.exec(fs.readFileSync(path.join(tree, 'CHANGELOG.md'), 'utf8'))?.[1] ?? '';
const commit = execFileSync('git', ['log', '-1', '--format=%H %cs'], { cwd: tree, encoding: 'utf8' }).trim();
const says = `pillion ${version} (${commit.slice(0, 12)}, ${commit.slice(-10)})`;
const sandbox = Sandbox.create({ 'README.md': '# Kettle\n' });
after(() => sandbox.dispose());

/** @param {string} name */
const file = (name) => path.join(release, name.replace('VERSION', version));

/** A new folder of the sandbox. @param {string} name */
function folder(name) {
  const place = path.join(sandbox.root, name);
  fs.mkdirSync(place, { recursive: true });
  return place;
}

/** @param {string} program @param {string[]} args @param {import('node:child_process').ExecFileSyncOptions} [options] */
function run(program, args, options = {}) {
  return String(execFileSync(program, args, { env: sandbox.env, cwd: sandbox.project, maxBuffer: 1 << 28, ...options })).trim();
}

/** An agent starts it and reads a file. @param {string} command @param {string[]} args @param {Record<string, string>} [env] @param {string} [cwd] */
async function answersAnAgent(command, args, env = {}, cwd = sandbox.project) {
  const client = new Client({ name: 'tester', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, cwd, env: { ...sandbox.env, ...env }, stderr: 'ignore' }));
  try {
    assert.deepEqual([client.getServerVersion()?.name, client.getServerVersion()?.version], ['pillion', version]);
    const result = await client.callTool({ name: 'read_file', arguments: { path: 'README.md' } });
    assert.match(JSON.stringify(result.content), /# Kettle/);
  } finally {
    await client.close();
  }
}

test('the checksums are those of all files', () => {
  assert.match(run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release }), /pillion-linux-x64-.*: OK/);
});

test('the .deb, in a root of its own', async () => {
  const root = folder('deb');
  fs.mkdirSync(path.join(root, 'var/lib/dpkg/updates'), { recursive: true });
  fs.mkdirSync(path.join(root, 'var/lib/dpkg/info'));
  fs.writeFileSync(path.join(root, 'var/lib/dpkg/status'), '');
  run('dpkg', [`--root=${root}`, '--force-not-root', '--force-bad-path', `--log=${root}/log`, '--install', file('pillion_VERSION_amd64.deb')]);
  assert.match(run('dpkg', [`--root=${root}`, '--status', 'pillion']), new RegExp(`Status: install ok installed[^]*Version: ${version}`));
  await installed(root, path.join(root, 'usr/bin/pillion'));
  assert.match(run('man', ['-l', path.join(root, 'usr/share/man/man1/pillion.1')]), /pillion mcp install/);
  const completed = 'source "$1"; PATH="$2:$PATH"; COMP_WORDS=(pillion watch --b); COMP_CWORD=2; _pillion; echo "${COMPREPLY[@]}"';
  assert.equal(run('bash', ['-c', completed, 'bash', path.join(root, 'usr/share/bash-completion/completions/pillion'), path.join(root, 'usr/bin')]), '--browser');
});

test('the .rpm, unpacked', async () => {
  const root = folder('rpm');
  run('sh', ['-c', 'rpm2cpio "$1" | cpio -idm --quiet --no-absolute-filenames', 'sh', file('pillion-VERSION-1.x86_64.rpm')], { cwd: root });
  await installed(root, path.join(root, 'usr/bin/pillion'));
});

/** What a package of Linux leaves. @param {string} root @param {string} pillion */
async function installed(root, pillion) {
  assert.equal(run(pillion, ['version']), says);
  assert.match(fs.readFileSync(path.join(root, 'usr/share/doc/pillion/LICENSES.txt'), 'utf8'), /github.com\/fsnotify\/fsnotify/);
  await answersAnAgent(pillion, ['mcp']);
}

test('the packages of arm64, with their programs under qemu', async () => {
  for (const [name, unpack] of [['pillion_VERSION_arm64.deb', 'dpkg-deb -x "$1" .'], ['pillion-VERSION-1.aarch64.rpm', 'rpm2cpio "$1" | cpio -idm --quiet --no-absolute-filenames']]) {
    const root = folder(`arm64-${path.extname(name)}`);
    run('sh', ['-c', unpack, 'sh', file(name)], { cwd: root });
    assert.equal(run('qemu-aarch64-static', [path.join(root, 'usr/bin/pillion'), 'version']), says);
    await answersAnAgent('qemu-aarch64-static', [path.join(root, 'usr/bin/pillion'), 'mcp']);
  }
});

test('the archive of Linux', async () => {
  run('tar', ['-xf', file('pillion-VERSION-linux-amd64.tar.gz'), '-C', folder('archive')]);
  await answersAnAgent(path.join(sandbox.root, 'archive', `pillion-${version}-linux-amd64`, 'pillion'), ['mcp']);
});

// It only reads: wine 8 lacks the system calls by which Pillion replaces a file.
test('the archive of Windows, under wine', () => {
  const wine = part('wine');
  run('unzip', ['-q', file('pillion-VERSION-windows-amd64.zip'), '-d', folder('windows')]);
  const exe = path.join(sandbox.root, 'windows', `pillion-${version}-windows-amd64`, 'pillion.exe');
  const home = `Z:${sandbox.home.replaceAll('/', '\\')}`;
  const env = { ...sandbox.env, WINEPREFIX: path.join(wine, 'prefix'), USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home };
  const pillion = (/** @type {string[]} */ ...args) => run(path.join(wine, 'bin/wine'), [exe, ...args], { env }).replaceAll('\r', '');
  assert.equal(pillion('version'), says);
  assert.match(pillion('call', 'read_file', '{"path": "README.md"}'), /# Kettle/);
});

test('the VSIX of this system, in VS Code', () => {
  const env = { ...sandbox.env, PATH: `${part('node24')}/node_modules/.bin:${sandbox.env.PATH}` };
  const folders = ['--user-data-dir', folder('vscode'), '--extensions-dir', folder('extensions')];
  run(program('code-server', 'code-server'), [...folders, '--install-extension', file('pillion-VERSION-vscode-linux-x64.vsix')], { env });
  assert.match(run(program('code-server', 'code-server'), [...folders, '--list-extensions', '--show-versions'], { env }), new RegExp(`pillion\\.pillion@${version}`));
  const [place] = fs.readdirSync(path.join(sandbox.root, 'extensions')).filter((name) => name.startsWith('pillion.pillion-'));
  assert.equal(run(path.join(sandbox.root, 'extensions', place, 'bin/pillion'), ['version']), says);
  assert.match(fs.readFileSync(path.join(sandbox.root, 'extensions', place, 'LICENSES.txt'), 'utf8'), /vscode-languageclient/);
});

test('npx pillion mcp, from a registry on this machine', async () => {
  const served = await registry(path.join(release, 'npm'));
  const env = { npm_config_registry: served.url, npm_config_cache: folder('npm-cache'), npm_config_update_notifier: 'false' };
  try {
    await answersAnAgent('npx', ['--yes', 'pillion', 'mcp'], env);
    const asked = served.asked.filter((name) => name.endsWith('.tgz'));
    assert.deepEqual(asked.map((name) => path.basename(name)).sort(), [`pillion-${version}.tgz`, `pillion-linux-x64-${version}.tgz`]);
  } finally {
    served.close();
  }
});

test('the sources build by themselves, as the formula and the flake build them', () => {
  run('tar', ['-xf', file('pillion-VERSION-source.tar.gz'), '-C', folder('source')]);
  const source = path.join(sandbox.root, 'source', `pillion-${version}-source`);
  const go = { GOPROXY: 'off', GOFLAGS: '-mod=vendor', GOCACHE: run('go', ['env', 'GOCACHE'], { env: process.env }), RELEASE: version };
  run('scripts/build.sh', [path.join(source, 'made')], { cwd: source, env: { ...sandbox.env, ...go } });
  assert.equal(run(path.join(source, 'made'), ['version']), says);
  const formula = fs.readFileSync(file('pillion.rb'), 'utf8');
  assert.ok(formula.includes(run('sha256sum', [file('pillion-VERSION-source.tar.gz')]).slice(0, 64)), 'the formula has the hash of the sources');
  for (const text of [formula, fs.readFileSync(path.join(source, 'flake.nix'), 'utf8')]) assert.match(text, /scripts\/build\.sh/);
});

test('the list of contents has every module that the program is linked from', () => {
  const { components } = JSON.parse(fs.readFileSync(file('pillion-VERSION.cdx.json'), 'utf8'));
  const listed = new Set(components.map((/** @type {{purl: string}} */ one) => one.purl));
  const linked = [...run('go', ['version', '-m', path.join(sandbox.root, 'deb/usr/bin/pillion')], { env: process.env }).matchAll(/\tdep\t(\S+)\t(\S+)/g)];
  assert.ok(linked.length > 20);
  for (const [, name, number] of linked) assert.ok(listed.has(`pkg:golang/${name}@${number}`), name);
  for (const one of components) assert.ok(one.licenses.length > 0, one.name);
});
