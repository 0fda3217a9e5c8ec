/** A conversation with a gateway's agent in a real Neovim: connected, talked to, asked by, and disconnected. */
import assert from 'node:assert/strict';
import { Gateway } from '../rig/gateway.js';
import { ride, takePictures } from './ride.js';

const files = { 'clock.py': 'def face(seconds):\n    return seconds\n', 'notes.txt': 'one\n' };

takePictures();

ride('a conversation with an agent that comes by a gateway', files, async (it) => {
  const { nvim, sandbox } = it;
  const gateway = await Gateway.start('t0k3n');
  try {
    await nvim.command(`Pillion gateway ${gateway.url}`);
    await nvim.sees('refused the token');
    await nvim.lua("require('pillion').setup({ settings = { gateway = { url = ..., tokenCommand = 'echo t0k3n' } } })", gateway.url);
    await nvim.command('Pillion gateway');
    await gateway.next('connected');
    await nvim.sees(/127\.0\.0\.1 · connected/);

    await nvim.press('i');
    await nvim.type('mend the clock');
    await nvim.press('<Esc>');
    await nvim.press('<CR>');
    assert.equal((await gateway.next('user_message')).content, 'mend the clock');
    gateway.send({ type: 'agent_status', status: 'thinking', message: 'about clocks' });
    await nvim.sees('thinking: about clocks');
    gateway.say('I look at **clock.py** first.\n\nThen I mend it.');
    await nvim.sees('Then I mend it.');
    gateway.send({ type: 'tool_call', call_id: '1', tool_name: 'read_file', arguments: { path: '/clock.py' } });
    assert.match((await gateway.next('tool_result')).result.content, /return seconds/);
    await nvim.sees(/✓ Read clock\.py/);

    gateway.send({ type: 'tool_call', call_id: '2', tool_name: 'edit_file', arguments: { path: 'clock.py', old_string: 'return seconds', new_string: 'return f"{seconds:02d}"' } });
    const dialog = await nvim.dialog('clock.py');
    await nvim.sees(/waiting for your answer|wants to edit clock\.py/);
    nvim.screenshot('conversation');
    await dialog.answer('approve');
    assert.equal((await gateway.next('hitl_decision')).decision, 'approve');
    assert.equal((await gateway.next('tool_result')).result.success, true);
    assert.match(sandbox.read('clock.py'), /:02d/);

    await nvim.command('tabfirst | 1wincmd w');
    await nvim.open('notes.txt');
    await nvim.command('Pillion context add');
    const added = await gateway.next('context_update');
    assert.deepEqual(added.data, { path: 'notes.txt' });
    await nvim.sees('context: notes.txt');
    await nvim.command('Pillion context clear');
    assert.equal((await gateway.next('context_update')).action, 'clear');

    gateway.break();
    await gateway.next('connected');
    await nvim.sees(/127\.0\.0\.1 · connected/);
    gateway.say('Still here.');
    await nvim.sees('Still here.');
    nvim.screenshot('conversation-after');
    await nvim.command('Pillion disconnect');
    await nvim.sees(/127\.0\.0\.1 · disconnected/);
  } finally {
    gateway.close();
  }
});
