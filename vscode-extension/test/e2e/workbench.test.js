/** The rig itself: VS Code opens on a folder, and what is typed and saved there is on the disk. */
import assert from 'node:assert/strict';
import { ride, shareBrowser } from './rig/ride.js';
import { eventually } from './rig/expect.js';

shareBrowser();

ride('a person types into a file and saves it', { 'hello.txt': 'one\ntwo\n' }, async ({ window, sandbox }) => {
  await window.openFile('hello.txt');
  await window.press('Control+End');
  await window.type('three');
  assert.deepEqual(await window.tabs(), ['* hello.txt']);
  assert.equal(sandbox.read('hello.txt'), 'one\ntwo\n');
  await window.press('Control+s');
  await eventually('the file on disk holds what was typed', () => sandbox.read('hello.txt') === 'one\ntwo\nthree');
  assert.equal(await window.text(window.editor('hello.txt')), 'one\ntwo\nthree');
});
