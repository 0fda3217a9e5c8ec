/** A repository with something to commit, for tests of what a person is shown of git: hooks, a filter, a remote, another branch. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { clock } from './kettle.js';

export const files = {
  'clock.py': clock, 'notes.txt': 'tea\n', 'words.md': 'STEEP\n', '.gitattributes': '*.md filter=words\n',
};

export const padded = clock.replace('{minutes}:{seconds}', '{minutes}:{seconds:02d}');

export const message = 'clock: pad the seconds\n\nThe face showed 3:5 for three minutes and five seconds.';

/** Three files have changed, one of them goes through a filter; a hook looks at each commit. @param {import('./sandbox.js').Sandbox} sandbox */
export function somethingToCommit(sandbox) {
  sandbox.git('config', 'filter.words.clean', 'tr a-z A-Z');
  hook(sandbox, 'pre-commit', 'echo "lint: all is well"');
  sandbox.write('clock.py', padded);
  sandbox.write('notes.txt', 'tea\nmilk\n');
  sandbox.write('words.md', 'STEEP\npour\n');
}

/** @param {import('./sandbox.js').Sandbox} sandbox @param {string} name @param {string} line */
export function hook(sandbox, name, line) {
  const folder = path.join(sandbox.project, '.git/hooks');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

/**
 * A remote in a folder beside the project, which has main as it is now. Gives what git says of it there.
 * @param {import('./sandbox.js').Sandbox} sandbox
 */
export function remote(sandbox) {
  const folder = path.join(sandbox.root, 'kettle.git');
  sandbox.git('init', '--quiet', '--bare', '--initial-branch=main', folder);
  sandbox.git('remote', 'add', 'origin', folder);
  sandbox.git('push', '--quiet', '--set-upstream', 'origin', 'main');
  return (/** @type {string[]} */ ...args) => sandbox.git('-C', folder, ...args);
}

/** A commit on main that the remote does not have. @param {import('./sandbox.js').Sandbox} sandbox @param {string} subject @param {string} text */
export function committed(sandbox, subject, text) {
  sandbox.write('notes.txt', text);
  sandbox.git('commit', '--quiet', '--all', `--message=${subject}`);
}

/** The hash of a revision, as dialogs have it. @param {import('./sandbox.js').Sandbox} sandbox @param {string} revision */
export function short(sandbox, revision) {
  return sandbox.git('rev-parse', revision).slice(0, 7);
}

/** The whole message of the last commit. @param {import('./sandbox.js').Sandbox} sandbox */
export function lastMessage(sandbox) {
  return sandbox.git('log', '-1', '--format=%B').trimEnd();
}

/** The user wrote why not, and the agent reads it. @param {import('./agent.js').ToolResult} result @param {string} why */
export function refusedBecause({ structured, text }, why) {
  assert.equal(structured.error.code, 'USER_REJECTED');
  assert.ok(text.includes(why), text);
}

/** What is said of the commit of somethingToCommit, whose message stands above that. @param {import('./sandbox.js').Sandbox} sandbox */
export function commitFacts(sandbox) {
  return [
    new RegExp(`Branch\\s+main, now at ${short(sandbox, 'HEAD')}`), /Author\s+Rider <rider@example\.com>/, /Contents\s+changes of tracked files \(nothing is staged\): 3 files, \+2 −1/,
    /Files\s+M clock\.py \+1 −1\n +M notes\.txt \+1 −0\n +M words\.md converted by a filter/, /Hooks\s+pre-commit \(\.git\/hooks\/pre-commit\)/, /Filters\s+tr a-z A-Z/,
  ];
}

/** It was made as it was shown. @param {import('./sandbox.js').Sandbox} sandbox @param {import('./agent.js').ToolResult} result */
export function committedAsShown(sandbox, { structured }) {
  assert.equal(structured.files_changed, 3);
  assert.match(structured.hook_output, /lint: all is well/);
  assert.equal(lastMessage(sandbox), message);
  assert.equal(sandbox.git('show', 'HEAD:words.md'), 'STEEP\nPOUR\n');
}

export const ownMessage = 'clock: two digits\n\nSaid by the one who drinks it.';

/** clock.py alone was committed, with what the user wrote. @param {import('./sandbox.js').Sandbox} sandbox @param {import('./agent.js').ToolResult} result */
export function committedWithOwnMessage(sandbox, { structured, text }) {
  assert.equal(structured.edited_by_human, true);
  assert.match(text, /user changed.*clock: two digits/s);
  assert.equal(lastMessage(sandbox), ownMessage);
  assert.equal(sandbox.git('status', '--short'), ' M notes.txt\n M words.md\n');
}

/** What is said of branches by what is done to them: pour is made, old switched to and deleted. @param {import('./sandbox.js').Sandbox} sandbox */
export function branchFacts(sandbox) {
  const [head, old] = [short(sandbox, 'HEAD'), short(sandbox, 'old')];
  return {
    create: [/wants to create the branch pour/, new RegExp(`Branch\\s+pour, at ${head}`), /Checked out\s+main, as before/],
    switch: [/wants to switch to the branch old/, new RegExp(`From\\s+main, at ${head}`), new RegExp(`To\\s+old, at ${old}`), /Files\s+M notes\.txt \+0 −1/],
    delete: [/wants to delete the branch old/, new RegExp(`Branch\\s+old, at ${old}`), /Merged\s+all its commits are also in HEAD/],
  };
}

/** What is said of a push of two commits beyond this one. @param {import('./sandbox.js').Sandbox} sandbox @param {string} before */
export function pushFacts(sandbox, before) {
  const [last, first] = [short(sandbox, 'HEAD'), short(sandbox, 'HEAD~1')];
  return [
    /scripted-agent wants to push main to origin/, /Remote\s+origin, .*kettle\.git/, new RegExp(`On the remote\\s+${before}`), new RegExp(`Afterwards\\s+${last}`),
    new RegExp(`New there\\s+2 commits\n\\s+${last} notes: sugar\n\\s+${first} notes: milk`), /Hooks\s+pre-push/,
  ];
}

/** A remote, and two commits that are to come there. @param {import('./sandbox.js').Sandbox} sandbox */
export function somethingToPush(sandbox) {
  const there = remote(sandbox);
  const before = short(sandbox, 'HEAD');
  committed(sandbox, 'notes: milk', 'tea\nmilk\n');
  committed(sandbox, 'notes: sugar', 'tea\nmilk\nsugar\n');
  hook(sandbox, 'pre-push', 'cat >/dev/null; echo "checked"');
  return { there: () => there('rev-parse', 'main'), before };
}
