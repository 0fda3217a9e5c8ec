// The npm packages: one a system, which npm installs by `os` and `cpu`, and `pillion`, which starts the program of the one that is there.
import fs from 'node:fs';
import path from 'node:path';

export function npmPackages(release) {
  const { version, out, work, source } = release;
  const common = { version, license: 'MIT' };
  const optionalDependencies = {};
  for (const system of release.systems) {
    const name = `@pillion/${system.node}-${system.cpu}`;
    const folder = path.join(work, 'npm', system.name);
    optionalDependencies[name] = version;
    release.write(path.join(folder, 'package.json'), json({ name, ...common, description: `Pillion's program for ${system.node} on ${system.cpu}; install pillion instead`, os: [system.node], cpu: [system.cpu], files: ['bin', 'LICENSES.txt'] }));
    fs.cpSync(path.dirname(release.binary(system)), path.join(folder, 'bin'), { recursive: true });
    for (const paper of ['LICENSE', 'LICENSES.txt']) fs.copyFileSync(path.join(work, 'papers', paper), path.join(folder, paper));
    pack(folder);
  }
  const folder = path.join(work, 'npm/pillion');
  const description = 'Lets coding agents work in your project through your editor';
  release.write(path.join(folder, 'package.json'), json({ name: 'pillion', ...common, description, bin: { pillion: 'pillion.js' }, files: ['pillion.js'], engines: { node: '>=18' }, optionalDependencies }));
  fs.copyFileSync(path.join(source, 'scripts/release/pillion.js'), path.join(folder, 'pillion.js'));
  for (const paper of ['LICENSE', 'README.md']) fs.copyFileSync(path.join(work, 'papers', paper), path.join(folder, paper));
  pack(folder);

  function pack(from) {
    fs.mkdirSync(path.join(out, 'npm'), { recursive: true });
    release.run('npm', ['pack', '--silent', '--pack-destination', path.join(out, 'npm')], { cwd: from });
  }
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
