// make release, or release.mjs [FOLDER]: all that people install, of the newest commit and of nothing else, in artifacts/release
// or FOLDER. The same commit gives the same bytes: sources come from git archive, times are the commit's. RELEASES is the
// address that the files will have; the formula and the Neovim plugin fetch from there.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { licences, sbom } from './release/contents.mjs';
import { formula, neovim } from './release/fetched.mjs';
import { npmPackages } from './release/npm.mjs';
import { site } from './release/site.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.resolve(process.argv[2] ?? path.join(root, 'artifacts/release'));
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'pillion-release-'));
process.umask(0o022);
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const epoch = git('log', '-1', '--format=%ct');
Object.assign(process.env, { SOURCE_DATE_EPOCH: epoch, TZ: 'UTC', LC_ALL: 'C', GOFLAGS: '-mod=readonly' });

/** The systems, as Go, VS Code and npm, and Debian's and Red Hat's packages name them. */
const systems = ['linux', 'darwin', 'windows'].flatMap((goos) => ['amd64', 'arm64'].map((goarch) => ({
  goos, goarch, name: `${goos}-${goarch}`, program: goos === 'windows' ? 'pillion.exe' : 'pillion',
  node: goos === 'windows' ? 'win32' : goos, cpu: goarch === 'amd64' ? 'x64' : goarch,
})));

/** What each part of a release is made with. */
const release = {
  root, out, work, systems, version: /^## (\d+\.\d+\.\d+)/m.exec(git('show', 'HEAD:CHANGELOG.md'))[1],
  source: path.join(work, 'source'), releases: process.env.RELEASES ?? '', date: new Date(epoch * 1000).toISOString(),
  run: (program, args, options = {}) => execFileSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: 1 << 28, ...options }),
  binary: (system) => path.join(work, 'bin', system.name, system.program),
  sha256: (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex'),
  write: (file, text) => { fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, text); },
  pack,
};

try {
  fs.rmSync(out, { recursive: true, force: true });
  fs.mkdirSync(out, { recursive: true });
  const steps = { sources, binaries, bundle, papers, archives, packages, vsix, npm: () => npmPackages(release), site: () => site(release), vendored, formula: () => formula(release), neovim: () => neovim(release), checksums };
  for (const [name, step] of Object.entries(steps)) {
    const began = Date.now();
    await step();
    console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  }
} finally {
  fs.rmSync(work, { recursive: true, force: true });
}

/** The commit's tree, apart from git. */
function sources() {
  fs.mkdirSync(release.source);
  execFileSync('tar', ['-x', '-C', release.source], { input: execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1 << 28 }) });
}

function binaries() {
  for (const system of systems) {
    release.run(path.join(release.source, 'scripts/build.sh'), [release.binary(system)], { env: { ...process.env, GOOS: system.goos, GOARCH: system.goarch, RELEASE: release.version } });
  }
}

/** The extension's code in one file. */
function bundle() {
  const installed = path.join(root, 'vscode-extension');
  release.run(path.join(root, 'scripts/npm-ci.sh'), [installed]);
  fs.symlinkSync(path.join(installed, 'node_modules'), path.join(release.source, 'vscode-extension/node_modules'));
  inExtension('scripts/build.mjs', '--production');
}

function inExtension(...args) {
  return release.run(process.execPath, args, { cwd: path.join(release.source, 'vscode-extension') });
}

/** What lies beside the program: completion, the manual page, licences, the list of what is in it. */
function papers() {
  const folder = path.join(work, 'papers');
  const own = release.binary(systems.find((s) => s.node === process.platform && s.cpu === process.arch));
  for (const shell of ['bash', 'zsh', 'fish']) release.write(path.join(folder, 'completion', `pillion.${shell}`), release.run(own, ['completion', shell]));
  release.write(path.join(folder, 'pillion.1'), release.run(own, ['help', '--man']));
  for (const name of ['LICENSE', 'CHANGELOG.md', 'README.md']) fs.copyFileSync(path.join(release.source, name), path.join(folder, name));
  release.write(path.join(folder, 'LICENSES.txt'), licences(release));
  release.write(path.join(out, `pillion-${release.version}.cdx.json`), sbom(release));
}

function archives() {
  for (const system of systems) {
    const name = `pillion-${release.version}-${system.name}`;
    const folder = path.join(work, name);
    fs.cpSync(path.join(work, 'papers'), folder, { recursive: true });
    fs.copyFileSync(release.binary(system), path.join(folder, system.program));
    pack(folder, `${name}.${system.goos === 'windows' ? 'zip' : 'tar.gz'}`);
  }
}

/** Packs a folder, by its own name, the same way each time. */
function pack(folder, name) {
  const [parent, base, file] = [path.dirname(folder), path.basename(folder), path.join(out, name)];
  if (name.endsWith('.zip')) {
    release.run('sh', ['-c', 'find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + && find "$1" -type f | sort | zip -q -X -@ "$2"', 'sh', base, file], { cwd: parent });
    return;
  }
  const same = ['--sort=name', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`, '--mode=u+w,go-w'];
  release.run('sh', ['-c', 'out=$1; shift; tar -c "$@" | gzip -n >"$out"', 'sh', file, ...same, '-C', parent, base]);
}

/** .deb and .rpm, of nfpm. */
function packages() {
  const nfpm = path.join(release.run(path.join(root, 'scripts/setup/nfpm.sh'), []).trim(), 'nfpm');
  const contents = fs.readFileSync(path.join(release.source, 'scripts/release/nfpm.yaml'), 'utf8');
  const config = path.join(work, 'nfpm.yaml');
  for (const system of systems.filter((s) => s.goos === 'linux')) {
    const values = { VERSION: release.version, ARCH: system.goarch, PROGRAM: release.binary(system), MTIME: release.date };
    release.write(config, contents.replace(/\$\{(\w+)\}/g, (_, name) => values[name]));
    for (const packager of ['deb', 'rpm']) release.run(nfpm, ['package', '--config', config, '--packager', packager, '--target', out], { cwd: path.join(work, 'papers') });
  }
}

/** The extension, once for each system with its program. */
function vsix() {
  fs.copyFileSync(path.join(work, 'papers/LICENSES.txt'), path.join(release.source, 'vscode-extension/LICENSES.txt'));
  for (const system of systems) {
    fs.rmSync(path.join(release.source, 'vscode-extension/bin'), { recursive: true, force: true });
    fs.cpSync(path.dirname(release.binary(system)), path.join(release.source, 'vscode-extension/bin'), { recursive: true });
    const target = `${system.node}-${system.cpu}`;
    inExtension('node_modules/@vscode/vsce/vsce', 'package', '--no-dependencies', '--allow-missing-repository', '--target', target, '--out', path.join(out, `pillion-${release.version}-vscode-${target}.vsix`));
  }
}

/** The sources with all modules, so that they build without a network, and the flake. */
function vendored() {
  const name = `pillion-${release.version}-source`;
  const folder = path.join(work, name);
  fs.rmSync(path.join(release.source, 'vscode-extension/node_modules'));
  for (const made of ['bin', 'dist', 'LICENSES.txt']) fs.rmSync(path.join(release.source, 'vscode-extension', made), { recursive: true, force: true });
  fs.renameSync(release.source, folder);
  release.source = folder;
  release.run('go', ['mod', 'vendor'], { cwd: folder, env: { ...process.env, GOFLAGS: '' } });
  fs.copyFileSync(path.join(folder, 'scripts/release/flake.nix'), path.join(folder, 'flake.nix'));
  pack(folder, `${name}.tar.gz`);
}

function checksums() {
  const files = ['.', 'npm'].flatMap((folder) => fs.readdirSync(path.join(out, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.join(folder, entry.name))).sort();
  release.write(path.join(out, 'SHA256SUMS'), files.map((name) => `${release.sha256(path.join(out, name))}  ${name}\n`).join(''));
}
