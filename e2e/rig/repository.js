/** A repository with something to commit, for tests of what a person is shown of git: hooks, a filter, a remote, another branch. */
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
