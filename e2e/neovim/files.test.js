/** Files that are not plain: encodings, line ends, names that change, buffers that go away, swap files. */
import assert from 'node:assert/strict';
import { ride, takePictures } from './ride.js';
import { Neovim } from './neovim.js';
import { eventually } from '../rig/expect.js';

const automatic = { setup: `require('pillion').setup({ settings = { mode = 'auto_edit' } })\n` };
const edit = (/** @type {string} */ path) => ({ path, old_string: 'old', new_string: 'new' });

takePictures();

/** Files as bytes: each is edited in the buffer, saved, and nothing but the word is another one.
 * @type {Record<string, {text: string, bytes: (text: string) => Buffer, seen: object, read?: string}>} */
const odd = {
  'latin1': { text: 'café old\nnaïve\n', bytes: (text) => Buffer.from(text, 'latin1'), seen: { eol: 'lf', bom: false } },
  'UTF-8 with a byte order mark': { text: '\ufeffcafé old\n', bytes: (text) => Buffer.from(text), seen: { encoding: 'utf-8', eol: 'lf', bom: true } },
  'UTF-16 little-endian with a byte order mark': { text: '\ufeffcafé old 漢字\n', bytes: (text) => Buffer.from(text, 'utf16le'), seen: { encoding: 'utf-16le', bom: true } },
  'UTF-16 big-endian with a byte order mark': { text: '\ufeffcafé old 漢字\n', bytes: (text) => Buffer.from(text, 'utf16le').swap16(), seen: { encoding: 'utf-16be', bom: true } },
  'DOS line ends': { text: 'one\r\nold\r\nthree\r\n', bytes: (text) => Buffer.from(text), seen: { eol: 'crlf' } },
  'mixed line ends': { text: 'one\r\nold\nthree\r\n', bytes: (text) => Buffer.from(text), seen: {} },
  'characters outside the basic plane before the word': { text: 'a😀é old 😀\n', bytes: (text) => Buffer.from(text), seen: { encoding: 'utf-8' } },
  'an empty first line and blanks at the end': { text: '\n  old  \n\n\n', bytes: (text) => Buffer.from(text), seen: {} },
};

for (const [name, { text, bytes, seen }] of Object.entries(odd)) {
  ride(`${name}: edited in the buffer, every other byte survives`, { 'odd.txt': bytes(text) }, async (it) => {
    const agent = await it.agent();
    const read = await eventually('the sidecar has what Neovim shows', async () => {
      const answer = await agent.call('read_file', { path: 'odd.txt' });
      return answer.structured.source === 'buffer' && answer;
    });
    assert.equal(read.structured.content, text.replace('\ufeff', ''));
    for (const [field, value] of Object.entries(seen)) assert.equal(read.structured[field], value, field);
    const result = await agent.call('edit_file', edit('odd.txt'));
    assert.equal(result.isError, false, result.text);
    assert.equal(result.structured.saved, true);
    assert.deepEqual(Buffer.from(it.sandbox.readBytes('odd.txt')), bytes(text.replace('old', 'new')));
    assert.equal(await it.nvim.modified('odd.txt'), false);
  }, { ...automatic, opened: 'odd.txt' });
}

ride('no newline at the end: what is saved is what Neovim itself would save', { 'open.txt': 'one\nold' }, async (it) => {
  const agent = await it.agent();
  const result = await agent.call('edit_file', edit('open.txt'));
  assert.equal(result.structured.saved, true, result.text);
  assert.equal(it.sandbox.read('open.txt'), 'one\nnew\n'); // 'fixendofline'
}, { ...automatic, opened: 'open.txt' });

ride('no newline at the end, and the user wants it so: it stays off', { 'open.txt': 'one\nold' }, async (it) => {
  const agent = await it.agent();
  const read = await agent.call('read_file', { path: 'open.txt' });
  assert.equal(read.structured.content, 'one\nold');
  const result = await agent.call('edit_file', edit('open.txt'));
  assert.equal(result.structured.saved, true, result.text);
  assert.equal(it.sandbox.read('open.txt'), 'one\nnew');
}, { ...automatic, opened: 'open.txt', init: 'vim.o.fixendofline = false\n' });

ride('a character that the file’s encoding has not: the agent is told, nothing changes', { 'odd.txt': Buffer.from('café old\n', 'latin1') }, async (it) => {
  const agent = await it.agent();
  const result = await agent.call('edit_file', { path: 'odd.txt', old_string: 'old', new_string: '漢字' });
  assert.equal(result.structured.error?.code, 'ENCODING_ERROR', result.text);
  assert.deepEqual(await it.nvim.lines('odd.txt'), ['café old']);
}, { ...automatic, opened: 'odd.txt' });

ride('an empty file', { 'empty.txt': '' }, async (it) => {
  const agent = await it.agent();
  const result = await agent.call('write_file', { path: 'empty.txt', content: 'one\ntwo\n' });
  assert.equal(result.structured.saved, true, result.text);
  assert.equal(it.sandbox.read('empty.txt'), 'one\ntwo\n');
  assert.deepEqual(await it.nvim.lines('empty.txt'), ['one', 'two']);
}, { ...automatic, opened: 'empty.txt' });

ride('a buffer without a file yet is the agent’s file too', { 'other.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('iold<Esc>');
  const agent = await it.agent();
  await eventually('it is read', async () => (await agent.call('read_file', { path: 'fresh.txt' })).structured.content === 'old\n');
  const result = await agent.call('edit_file', edit('fresh.txt'));
  assert.equal(result.structured.saved, false, result.text);
  assert.deepEqual(await nvim.lines('fresh.txt'), ['new']);
  assert.equal(sandbox.exists('fresh.txt'), false);
}, { ...automatic, opened: 'fresh.txt' });

ride(':saveas: the new name is the buffer, the old one a file', { 'first.txt': 'old\n' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.command('saveas second.txt');
  await nvim.press('Gomine<Esc>');
  const agent = await it.agent();
  await eventually('the new name has the buffer’s text', async () => (await agent.call('read_file', { path: 'second.txt' })).structured.content === 'old\nmine\n');
  const result = await agent.call('edit_file', edit('second.txt'));
  assert.equal(result.structured.saved, false, result.text);
  assert.deepEqual(await nvim.lines('second.txt'), ['new', 'mine']);
  const first = await agent.call('read_file', { path: 'first.txt' });
  assert.equal(first.structured.source, 'disk');
  assert.equal(first.structured.content, 'old\n');
  assert.equal(sandbox.read('second.txt'), 'old\n');
}, { ...automatic, opened: 'first.txt' });

ride(':file while a question waits: the yes does not land in a buffer of another name', { 'first.txt': 'old\n' }, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit('first.txt'));
  const dialog = await nvim.dialog('first.txt');
  await nvim.command('file second.txt');
  await eventually('the old name is a file alone', async () => (await agent.call('read_file', { path: 'first.txt' })).structured.source === 'disk');
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.deepEqual(await nvim.lines('second.txt'), ['old']);
  assert.equal(sandbox.read('first.txt'), 'new\n');
  assert.equal(sandbox.exists('second.txt'), false);
}, { opened: 'first.txt' });

ride('wiped while a question waits: the file is written instead', { 'first.txt': 'old\n', 'other.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  const agent = await it.agent();
  const call = agent.call('edit_file', edit('first.txt'));
  const dialog = await nvim.dialog('first.txt');
  await nvim.open('other.txt');
  await nvim.command('bwipeout first.txt');
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(sandbox.read('first.txt'), 'new\n');
}, { opened: 'first.txt' });

ride('wiped with unsaved changes while a question waits: the agent’s change rests on the file again', { 'first.txt': 'old\n', 'other.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('Gomine<Esc>');
  const agent = await it.agent();
  const call = agent.call('edit_file', edit('first.txt'));
  const dialog = await nvim.dialog('first.txt');
  await nvim.command('edit other.txt');
  await nvim.command('edit! other.txt');
  await nvim.command('bwipeout! first.txt');
  await eventually('the dialog shows the file’s own text', async () => (await dialog.proposedText()).join() === 'new');
  await dialog.answer('approve');
  assert.equal((await call).isError, false);
  assert.equal(sandbox.read('first.txt'), 'new\n');
}, { opened: 'first.txt' });

for (const option of ['readonly', 'nomodifiable']) {
  ride(`set ${option}: it asks even where edits need no asking, and then comes into the buffer`, { 'first.txt': 'old\n' }, async (it) => {
    const { nvim, sandbox } = it;
    await nvim.command(`set ${option}`);
    const agent = await it.agent();
    await eventually('the sidecar knows', async () => (await agent.call('read_file', { path: 'first.txt' })).structured.source === 'buffer');
    const call = agent.call('edit_file', edit('first.txt'));
    const dialog = await nvim.dialog('first.txt');
    await dialog.show();
    await nvim.sees('asks because first.txt is read-only');
    assert.equal(sandbox.read('first.txt'), 'old\n');
    await dialog.answer('approve');
    assert.equal((await call).isError, false);
    assert.equal(sandbox.read('first.txt'), 'new\n');
    await eventually('the buffer shows it', async () => (await nvim.lines('first.txt')).join() === 'new');
  }, { ...automatic, opened: 'first.txt' });
}

ride('a buffer that no window shows: edited where it is, saved if it was clean, else not', { 'first.txt': 'old\n', 'other.txt': 'old\n', 'third.txt': '' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.press('Gomine<Esc>');
  await nvim.open('other.txt');
  await nvim.open('third.txt');
  const agent = await it.agent();
  assert.equal((await agent.call('edit_file', edit('other.txt'))).structured.saved, true);
  assert.equal((await agent.call('edit_file', edit('first.txt'))).structured.saved, false);
  assert.equal(sandbox.read('other.txt'), 'new\n');
  assert.equal(sandbox.read('first.txt'), 'old\n');
  assert.deepEqual(await nvim.lines('first.txt'), ['new', 'mine']);
  assert.equal(await nvim.file(), 'third.txt');
}, { ...automatic, opened: 'first.txt' });

ride('what an agent’s command writes to a file that is open comes into the buffer, but not over what is unsaved', { 'first.txt': 'old\n', 'other.txt': 'old\n' }, async (it) => {
  const { nvim, sandbox } = it;
  await nvim.open('other.txt');
  await nvim.press('Gomine<Esc>');
  const agent = await it.agent();
  const call = agent.call('run_command', { command: 'sed -i s/old/new/ first.txt other.txt' });
  await (await nvim.dialog('sed')).answer('approve');
  assert.equal((await call).structured.exit_code, 0);
  await eventually('the clean buffer is read anew', async () => (await nvim.lines('first.txt')).join() === 'new');
  assert.deepEqual(await nvim.lines('other.txt'), ['old', 'mine']);
  assert.equal((await nvim.mode()).blocking, false);
  assert.equal(sandbox.read('other.txt'), 'new\n');
}, { opened: 'first.txt' });

ride('what an agent writes to a file that is open is seen without a key pressed', { 'first.txt': 'old\n' }, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  const result = await agent.call('edit_file', edit('first.txt'));
  assert.equal(result.isError, false, result.text);
  await nvim.sees(/^▌ new/m);
}, { ...automatic, opened: 'first.txt' });

/** A file whose swap file was left by a Neovim that died. @param {import('./ride.js').Ride} it */
async function leaveSwapFile(it) {
  const crashed = await Neovim.start(it.sandbox, { plugin: false, args: ['first.txt'] });
  await crashed.press('Golost<Esc>');
  await crashed.command('preserve');
  await eventually('the swap file is there', () => crashed.lua(`return vim.fn.filereadable(vim.fn.swapname('%')) == 1`));
  await crashed.kill();
}

ride('a swap file of a crash, the file not open: Neovim asks nothing, the file is written', { 'first.txt': 'old\n' }, async (it) => {
  await leaveSwapFile(it);
  const nvim = await it.begin();
  const agent = await it.agent();
  const call = agent.call('edit_file', edit('first.txt'));
  const dialog = await nvim.dialog('first.txt');
  await dialog.show();
  assert.equal((await nvim.mode()).blocking, false);
  assert.doesNotMatch(nvim.screen.text, /E325|ATTENTION/);
  await dialog.answer('approve');
  assert.equal((await call).isError, false);
  assert.equal(it.sandbox.read('first.txt'), 'new\n');
}, null);

ride('a swap file of a crash, and Neovim asks about it: no key of its answer is an answer to the agent', { 'first.txt': 'old\n' }, async (it) => {
  await leaveSwapFile(it);
  const nvim = await it.begin();
  const agent = await it.agent();
  await nvim.command('edit first.txt');
  await nvim.sees(/ATTENTION/);
  const call = agent.call('edit_file', edit('first.txt'));
  await nvim.sees(/\[O\]pen Read-Only, \(E\)dit anyway/);
  nvim.screenshot('swap-file');
  await nvim.press('e');
  const dialog = await nvim.dialog('first.txt');
  assert.equal(it.sandbox.read('first.txt'), 'old\n');
  await nvim.press('<CR>');
  await dialog.answer('approve');
  const result = await call;
  assert.equal(result.isError, false, result.text);
  assert.equal(it.sandbox.read('first.txt'), 'new\n');
}, null);
