/** A revert that fails half way, because the disk is really full: everything is as before. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { ride } from './ride.js';

const kilobytes = 1024;
/** Of the disk on which the project lies. */
const size = 2048 * kilobytes;
/** @param {string} letter @param {number} kb */
const text = (letter, kb) => `${letter.repeat(63)}\n`.repeat(kb * 16);
const open = text('o', 200);
const closed = { 'a.txt': text('a', 300), 'b.txt': text('b', 300) };

/**
 * Neovim, and all that it starts, sees the project on a disk of its own, and nobody else does: what stands there is looked
 * up through Neovim. @param {import('../rig/sandbox.js').Sandbox} sandbox
 */
function onSmallDisk(sandbox) {
  const fill = 'cp -a "$1/." "$2/" && cd "$2" && shift 2 && exec "$@"';
  return ['bwrap', '--dev-bind', '/', '/', '--bind', sandbox.project, `${sandbox.root}/master`, '--size', String(size), '--tmpfs', sandbox.project,
    'sh', '-c', fill, 'sh', `${sandbox.root}/master`, sandbox.project];
}

/** @param {import('./neovim.js').Neovim} nvim @param {string} name @returns {Promise<string>} */
const onDisk = (nvim, name) => nvim.lua(`local file = assert(io.open((...), 'rb')); local text = file:read('*a'); file:close(); return text`, name);

/** @param {import('./neovim.js').Neovim} nvim @returns {Promise<string[]>} */
const names = (nvim) => nvim.lua(`return vim.fn.sort(vim.fn.readdir('.'))`);

/** Fills the disk but for so many bytes. @param {import('./neovim.js').Neovim} nvim @param {number} room */
async function fillDisk(nvim, room) {
  await nvim.lua(`local file = assert(vim.uv.fs_open('filler', 'w', 420))
    local block, size = ('f'):rep(4096), 0
    local written = vim.uv.fs_write(file, block)
    while written do
      size = size + written
      written = vim.uv.fs_write(file, block)
    end
    assert(vim.uv.fs_ftruncate(file, size - ...))
    assert(vim.uv.fs_close(file))`, room);
}

/** Reverts all that the agent did, after a look. @param {import('./neovim.js').Neovim} nvim */
async function revert(nvim) {
  await nvim.command('Pillion revert agent');
  await nvim.revert('Revert everything that scripted-agent changed?');
}

const options = { opened: 'open.txt', within: onSmallDisk, setup: `require('pillion').setup({ settings = { mode = 'auto_edit' } })\n` };

/** An agent has made one open and two closed files small. @param {import('./ride.js').Ride} it */
async function shrunk(it) {
  const agent = await it.agent();
  for (const name of ['a.txt', 'b.txt', 'open.txt']) {
    const result = await agent.call('write_file', { path: name, content: `small ${name}\n` });
    assert.equal(result.isError, false, result.text);
  }
  assert.equal(await onDisk(it.nvim, 'open.txt'), 'small open.txt\n');
}

ride('a revert of one open and two closed files finds the disk full: nothing is changed, and it works when there is room', { 'open.txt': open, ...closed }, async (it) => {
  const { nvim } = it;
  await shrunk(it);
  await fillDisk(nvim, 500 * kilobytes); // one of the closed files has room
  const before = await names(nvim);
  await revert(nvim);
  await nvim.sees(/nothing was reverted/);
  nvim.screenshot('full-disk');
  for (const name of ['a.txt', 'b.txt', 'open.txt']) assert.equal(await onDisk(nvim, name), `small ${name}\n`, name);
  assert.deepEqual(await nvim.lines('open.txt'), ['small open.txt']);
  assert.equal(await nvim.modified('open.txt'), false);
  assert.deepEqual(await names(nvim), before, 'no temporary file is left');
  await nvim.lua(`vim.uv.fs_unlink('filler')`);
  await revert(nvim);
  for (const [name, whole] of Object.entries({ 'open.txt': open, ...closed })) {
    await eventually(`${name} is as it was`, async () => (await onDisk(nvim, name)) === whole);
  }
}, options);

ride('a revert for which Neovim cannot save the open file: nothing is changed, in the buffer neither', { 'open.txt': open, ...closed }, async (it) => {
  const { nvim } = it;
  await shrunk(it);
  await fillDisk(nvim, 700 * kilobytes); // both of the closed files have room
  await revert(nvim);
  await nvim.sees(/nothing was reverted/);
  nvim.screenshot('full-disk-unsaved');
  for (const name of ['a.txt', 'b.txt', 'open.txt']) assert.equal(await onDisk(nvim, name), `small ${name}\n`, name);
  assert.deepEqual(await nvim.lines('open.txt'), ['small open.txt']);
  assert.equal(await nvim.modified('open.txt'), false);
}, options);
