// What fetches a release from where it is published: the Homebrew formula, and the tree of pillion.nvim.
import fs from 'node:fs';
import path from 'node:path';

/** The formula builds from the sources. Without RELEASES they are taken from beside it. */
export function formula(release) {
  const text = fs.readFileSync(path.join(release.source, 'scripts/release/pillion.rb'), 'utf8');
  const values = { RELEASES: release.releases || 'file://#{__dir__}', VERSION: release.version, SHA256: release.sha256(path.join(release.out, `pillion-${release.version}-source.tar.gz`)) };
  release.write(path.join(release.out, 'pillion.rb'), text.replace(/@([A-Z0-9]+)@/g, (_, name) => values[name]));
}

/** The plugin at the root of a repository, with what its build step fetches and the hashes that it must have. */
export function neovim(release) {
  const name = 'pillion.nvim';
  const folder = path.join(release.work, name);
  fs.cpSync(path.join(release.source, 'nvim-plugin'), folder, { recursive: true, filter: (file) => path.basename(file) !== 'test' });
  for (const paper of ['LICENSE', 'CHANGELOG.md']) fs.copyFileSync(path.join(release.source, paper), path.join(folder, paper));
  const programs = release.systems.map((system) => {
    const archive = `pillion-${release.version}-${system.name}.${system.goos === 'windows' ? 'zip' : 'tar.gz'}`;
    return `    [${JSON.stringify(system.name)}] = { archive = "${archive}", npm = "@pillion/${system.node}-${system.cpu}", sha256 = "${release.sha256(release.binary(system))}" },\n`;
  });
  release.write(path.join(folder, 'lua/pillion/release.lua'), `-- Written by make release.\nreturn {\n  version = "${release.version}",\n  from = ${JSON.stringify(release.releases)},\n  programs = {\n${programs.join('')}  },\n}\n`);
  release.pack(folder, `${name}-${release.version}.tar.gz`);
}
