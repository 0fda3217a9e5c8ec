/** Where things stand: this tree, what it builds, and the parts of the tool chain in the cache. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const tree = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const artifacts = path.join(tree, 'artifacts');

/** The program under test, the same that every editor starts: an agent must speak to a sidecar of its own build. */
export function pillion() {
  return built('bin/pillion', 'make build');
}

export function vsix() {
  return built('vscode-extension/pillion.vsix', 'make vsix');
}

/** @param {string} file @param {string} how */
function built(file, how) {
  const place = path.join(tree, file);
  if (!fs.existsSync(place)) throw new Error(`${file} is not there; run ${how}`);
  return place;
}

/** @type {Map<string, string>} */
const parts = new Map();

/** A part of the tool chain with its words, such as `neovim` or `agent claude`, made if need be. @param {string} name */
export function part(name) {
  let place = parts.get(name);
  if (place === undefined) {
    const [script, ...words] = name.split(' ');
    place = execFileSync(path.join(tree, 'scripts/setup', `${script}.sh`), words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
    parts.set(name, place);
  }
  return place;
}

/** A program of a part that npm installed. @param {string} name @param {string} program */
export function program(name, program) {
  return path.join(part(name), 'node_modules/.bin', program);
}
