/** Patches as git makes them of two trees: texts, modes, bytes, files that come and go; and what must come of one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { eventually } from './expect.js';
import { clock } from './kettle.js';

/** @typedef {{bytes: Buffer, executable: boolean}} File @typedef {Record<string, File>} Tree */

/** @param {string | Buffer} content @returns {File} */
export function file(content, executable = false) {
  return { bytes: Buffer.from(content), executable };
}

/** Files of texts alone. @param {Record<string, string>} named @returns {Tree} */
export function texts(named) {
  return Object.fromEntries(Object.entries(named).map(([name, text]) => [name, file(text)]));
}

/** The patch that leads from one tree to the other. @param {Tree} before @param {Tree} after */
export function patch(before, after) {
  return inFolder(before, (folder) => {
    const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
    git('init', '--quiet');
    git('add', '--all');
    const tree = git('write-tree').trim();
    for (const name of Object.keys(before)) fs.rmSync(path.join(folder, name));
    put(folder, after);
    git('add', '--all');
    return git('diff', '--cached', '--no-renames', '--binary', tree);
  });
}

/** What git makes of a tree with a patch. @param {Tree} before @param {string} diff */
export function applied(before, diff) {
  return inFolder(before, (folder) => {
    execFileSync('git', ['apply', '-'], { cwd: folder, input: diff });
    return look(folder);
  });
}

/** What is in a folder beside its repository. @param {string} folder @returns {Tree} */
export function look(folder) {
  const names = fs.readdirSync(folder).filter((name) => name !== '.git').sort();
  return Object.fromEntries(names.map((name) => {
    const place = path.join(folder, name);
    return [name, { bytes: fs.readFileSync(place), executable: (fs.statSync(place).mode & 0o111) !== 0 }];
  }));
}

/** @param {string} folder @param {Tree} tree */
function put(folder, tree) {
  for (const [name, { bytes, executable }] of Object.entries(tree)) fs.writeFileSync(path.join(folder, name), bytes, { mode: executable ? 0o755 : 0o644 });
}

/** @template T @param {Tree} tree @param {(folder: string) => T} use */
function inFolder(tree, use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pillion-patch-'));
  try {
    put(folder, tree);
    return use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const pot = 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR4nGOo8JAjCTGMahjVMHw1AABg/N4BMsQ8pAAAAABJRU5ErkJggg==';
const greenPot = 'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR4nGPQqLChKWIYtWDUglELRi0YtWDUglELRi0YtWDUglELhooFAPS5cC75JxxOAAAAAElFTkSuQmCC';
const leaf = 'iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAIAAABvFaqvAAAAH0lEQVR4nGOw6XGjCmIYNWjUoFGDRg0aNWjUoIE3CAA0KV+fgWIplwAAAABJRU5ErkJggg==';
const picture = (/** @type {string} */ base64) => file(Buffer.from(base64, 'base64'));
/** So long that git has a change of it as what is other. @param {number} last */
const weights = (last) => file(Buffer.from([...Array.from({ length: 2999 }, (_, at) => (at * at) % 251), last]));

export const before = {
  'beans.bin': weights(1), 'brew.sh': file('#!/bin/sh\necho brewing\n'), 'clock.py': file(clock), 'notes.txt': file('one\ntwo\n'),
  'old.bin': file(Buffer.from([0, 1, 2, 3])), 'pot.png': picture(pot), 'pour.sh': file('#!/bin/sh\necho pouring\n'),
};

const padded = clock.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');
const floats = (/** @type {string} */ text) => text.replace('int(number)', 'float(number)');

/** Of each kind one: other bytes, as a whole and as what is other; another mode, with another text and without; files that are new, and that go. */
export const after = {
  'beans.bin': weights(2), 'brew.sh': file(before['brew.sh'].bytes, true), 'clock.py': file(floats(padded)), 'leaf.png': picture(leaf), 'pot.png': picture(greenPot),
  'pour.sh': file('#!/bin/sh\necho pouring slowly\n', true),
};

/** Without the first hunk of clock.py, the other picture, the mode of pour.sh and the end of notes.txt. */
export const chosen = {
  ...after, 'clock.py': file(floats(clock)), 'notes.txt': before['notes.txt'], 'pot.png': before['pot.png'], 'pour.sh': file(after['pour.sh'].bytes),
};

export const files = Object.fromEntries(Object.entries(before).map(([name, { bytes }]) => [name, bytes]));

/** The arguments of a call that brings it. */
export const all = () => ({ diff: patch(before, after) });

/** Just `chosen` was made of it. @param {Promise<import('./agent.js').ToolResult>} call @param {import('./sandbox.js').Sandbox} sandbox */
export async function becameChosen(call, { project }) {
  const { isError, text } = await call;
  assert.equal(isError, false, text);
  assert.deepEqual(look(project), chosen);
}

/** Of a review the agent got just `chosen`, and no file was changed: a mode comes along with its text there.
 * @param {Promise<import('./agent.js').ToolResult>} call @param {import('./sandbox.js').Sandbox} sandbox */
export async function gaveChosen(call, { project }) {
  const { structured, isError, text } = await call;
  assert.equal(isError, false, text);
  assert.deepEqual(applied(before, structured.filtered_diff), { ...chosen, 'pour.sh': after['pour.sh'] });
  assert.deepEqual(look(project), before);
}

const lower = { 'clock.py': file(floats(clock)) };

/** Of one file in two parts, the upper hunk in the second. */
export const inParts = { files: { 'clock.py': clock }, diff: () => patch(texts({ 'clock.py': clock }), lower) + patch(lower, { 'clock.py': after['clock.py'] }) };

/** The agent got the lower hunk alone, which is the first of the patch. @param {Promise<import('./agent.js').ToolResult>} call */
export async function gaveLower(call) {
  const { structured, isError, text } = await call;
  assert.equal(isError, false, text);
  assert.deepEqual([structured.chunks_selected, structured.chunks_total], [[1], 2]);
  assert.deepEqual(applied(texts(inParts.files), structured.filtered_diff), lower);
}

/** All was put back. @param {import('./sandbox.js').Sandbox} sandbox */
export async function isAsBefore({ project }) {
  await eventually('all is as before', () => { assert.deepEqual(look(project), before); return true; });
}

/** What is said of each file of which there is no text to look at, sizes and all; beside whether it is new, or goes. */
export const told = {
  'beans.bin': 'binary, other content, 3000 bytes', 'brew.sh': 'made executable, mode 100644 → 100755', 'leaf.png': 'binary, 88 bytes',
  'old.bin': 'binary, 4 bytes', 'pot.png': 'binary, 79 → 99 bytes',
};

/** No byte of a binary file, and nothing of how git writes them, is for people. */
export const raw = /GIT binary patch|literal \d|delta \d|Binary files|\\u[0-9a-f{]/;
