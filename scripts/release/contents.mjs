// What is in a release: the Go modules that the programs are linked from and the npm packages that the extension bundles,
// with their licences, and as a CycloneDX document.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** The parts: what they are, and the folder that has their licence. */
function parts(release) {
  return [...modules(release), ...bundled(release)].sort((one, other) => (one.purl < other.purl ? -1 : 1));
}

/** Of all systems' programs, as the linker wrote them down, and Go itself. */
function modules(release) {
  const listed = release.systems.flatMap((system) => release.run('go', ['version', '-m', release.binary(system)]).split('\n'));
  const found = new Map(listed.map((line) => /^\tdep\t(\S+)\t(\S+)/.exec(line)).filter(Boolean).map(([, name, version]) => [name, { name, version }]));
  const places = release.run('go', ['list', '-m', '-f', '{{.Path}} {{.Dir}}', ...found.keys()], { cwd: release.source }).trim().split('\n');
  for (const line of places) {
    const [name, folder] = line.split(' ');
    Object.assign(found.get(name), { folder, purl: `pkg:golang/${name}@${found.get(name).version}` });
  }
  const [version, folder] = release.run('go', ['env', 'GOVERSION', 'GOROOT'], { cwd: release.source }).trim().split('\n');
  return [...found.values(), { name: 'std', version, folder, purl: `pkg:golang/std@${version.slice(2)}` }];
}

/** What esbuild takes into the extension. */
function bundled({ root, source }) {
  const { inputs } = JSON.parse(fs.readFileSync(path.join(source, 'vscode-extension/dist/bundled.json'), 'utf8'));
  const folders = new Set(Object.keys(inputs).map((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean));
  return [...folders].map((file) => {
    const folder = path.join(root, 'vscode-extension', file.slice(file.indexOf('node_modules')));
    const { name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return { name, version, folder, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` };
  });
}

/** The texts of a part's licence. A part without one cannot be passed on. */
function texts(part) {
  const names = fs.readdirSync(part.folder).filter((name) => /^(licen[cs]e|copying|notice|patents)/i.test(name)).sort();
  if (!names.some((name) => /^(licen[cs]e|copying)/i.test(name))) throw new Error(`${part.name} has no licence in ${part.folder}`);
  return names.filter((name) => fs.statSync(path.join(part.folder, name)).isFile()).map((name) => fs.readFileSync(path.join(part.folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
}

/** The licences of all parts, for people. */
export function licences(release) {
  const rule = '='.repeat(80);
  return parts(release).map((part) => `${rule}\n${part.name} ${part.version}\n${rule}\n\n${texts(part).join('\n\n')}\n`).join('\n');
}

/** The name of a licence by what only its text says. */
const kinds = [
  ['BlueOak-1.0.0', /Blue Oak Model License/], ['Apache-2.0', /Apache License,?\s+Version 2\.0/], ['MPL-2.0', /Mozilla Public License,? (?:Version|v\.) 2\.0/i], ['ISC', /Permission to use, copy, modify, and(?:\/or)? distribute this software/],
  ['MIT', /Permission is hereby granted, free of charge/], ['BSD-3-Clause', /Redistribution and use[^]*(?:endorse|Neither the name)/], ['BSD-2-Clause', /Redistribution and use/],
];

export function sbom(release) {
  const components = parts(release).map((part) => {
    const text = texts(part).join('\n');
    const ids = kinds.filter(([, words]) => words.test(text)).map(([id]) => id).filter((id, _, all) => id !== 'BSD-2-Clause' || !all.includes('BSD-3-Clause'));
    if (ids.length === 0) throw new Error(`the licence of ${part.name} is not one of those that are known here`);
    return { type: 'library', 'bom-ref': part.purl, name: part.name, version: part.version, purl: part.purl, licenses: ids.map((id) => ({ license: { id } })) };
  });
  const hashes = (file) => [{ alg: 'SHA-256', content: createHash('sha256').update(fs.readFileSync(file)).digest('hex') }];
  const files = release.systems.map((system) => ({ type: 'file', name: `${system.name}/${system.program}`, hashes: hashes(release.binary(system)) }));
  const component = { type: 'application', 'bom-ref': 'pillion', name: 'pillion', version: release.version, licenses: [{ license: { id: 'MIT' } }], components: files };
  const dependencies = [{ ref: 'pillion', dependsOn: components.map((part) => part.purl) }];
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { timestamp: release.date, component }, components, dependencies }, null, 1)}\n`;
}
