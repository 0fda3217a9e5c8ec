/** A registry of npm on loopback that has the packages of one folder. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

/** @param {string} folder */
export async function registry(folder) {
  /** @type {string[]} */
  const asked = [];
  /** @type {Map<string, (url: string) => unknown>} */
  const packages = new Map();
  for (const tarball of fs.readdirSync(folder)) {
    const place = path.join(folder, tarball);
    const manifest = JSON.parse(execFileSync('tar', ['-xOf', place, 'package/package.json'], { encoding: 'utf8' }));
    const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(place)).digest('base64')}`;
    packages.set(manifest.name, (url) => ({
      name: manifest.name, 'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist: { tarball: `${url}/${tarball}`, integrity } } },
    }));
  }
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '').slice(1);
    asked.push(name);
    const document = packages.get(name);
    if (document) return response.end(JSON.stringify(document(url)));
    if (name.endsWith('.tgz')) return fs.createReadStream(path.join(folder, path.basename(name))).pipe(response);
    return response.writeHead(404).end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  return { url, asked, close: () => { server.close(); server.closeAllConnections(); } };
}
