/** A conversation with a gateway's agent in a real VS Code: connected, talked to, asked by, and disconnected. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { Gateway } from '../rig/gateway.js';
import { ride, shareEditor } from './ride.js';

const files = { 'clock.py': 'def face(seconds):\n    return seconds\n', 'notes.txt': 'one\n' };

shareEditor();

ride('a conversation with an agent that comes by a gateway', files, async (it) => {
  const { window, sandbox } = it;
  const gateway = await Gateway.start('t0k3n');
  const page = window.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  const shown = async () => page.locator('body').innerText();
  try {
    await window.command('Pillion: Show Conversation');
    await eventually('it says what it is for', async () => /No agent is connected\.[^]*Connect to a gateway/.test(await shown()));
    await page.locator('#connect').click();
    const input = window.page.locator('.quick-input-widget input');
    await input.fill(gateway.url);
    await window.press('Enter');
    await eventually('it asks for the token', async () => /Token for the gateway/.test(await window.page.locator('.quick-input-widget').innerText()));
    assert.equal(await input.getAttribute('type'), 'password');
    await input.fill('wrong');
    await window.press('Enter');
    await eventually('it says that the token was refused', async () => /refused the token/.test(await shown()));
    await page.locator('#connect').click();
    await eventually('it asks for the address', async () => /Connect to a gateway/.test(await window.page.locator('.quick-input-widget').innerText()));
    await input.fill(gateway.url);
    await window.press('Enter');
    await eventually('it asks anew', async () => /Token for the gateway/.test(await window.page.locator('.quick-input-widget').innerText()));
    await input.fill('t0k3n');
    await window.press('Enter');
    await input.waitFor({ state: 'hidden' });
    await window.type('mend the clock');
    await gateway.next('connected');
    await eventually('it is connected', async () => /127\.0\.0\.1 · connected/.test(await shown()));
    assert.equal(await page.locator('#message').inputValue(), 'mend the clock');
    await window.press('Enter');
    assert.equal((await gateway.next('user_message')).content, 'mend the clock');
    gateway.send({ type: 'agent_status', status: 'thinking', message: 'about clocks' });
    gateway.say('I look at **clock.py** first. <img src=x onerror=alert(1)>\n\nThen I mend it.');
    await eventually('the words are there', async () => /thinking: about clocks[^]*I look at clock\.py first\. <img[^]*Then I mend it\./.test(await shown()));
    assert.equal(await page.locator('strong').innerText(), 'clock.py');
    gateway.send({ type: 'tool_call', call_id: '1', tool_name: 'read_file', arguments: { path: '/clock.py' } });
    assert.match((await gateway.next('tool_result')).result.content, /return seconds/);
    await eventually('the call is a row', async () => /✓ Read clock\.py/.test(await shown()));

    gateway.send({ type: 'tool_call', call_id: '2', tool_name: 'edit_file', arguments: { path: 'clock.py', old_string: 'return seconds', new_string: 'return f"{seconds:02d}"' } });
    const dialog = await (await window.dialog('clock.py')).drawn();
    await eventually('the row waits', async () => /\? Edit clock\.py/.test(await shown()));
    await window.screenshot('conversation');
    await dialog.press('Approve');
    assert.equal((await gateway.next('hitl_decision')).decision, 'approve');
    assert.equal((await gateway.next('tool_result')).result.success, true);
    assert.match(sandbox.read('clock.py'), /:02d/);

    await window.openFile('notes.txt');
    await window.command("Pillion: Add File to the Agent's Context");
    assert.deepEqual((await gateway.next('context_update')).data, { path: 'notes.txt' });
    await page.locator('.chip', { hasText: 'notes.txt' }).click();
    assert.equal((await gateway.next('context_update')).action, 'remove_file');

    gateway.break();
    await gateway.next('connected');
    gateway.say('Still here.');
    await eventually('it goes on', async () => /127\.0\.0\.1 · connected[^]*Still here\./.test(await shown()));
    await page.locator('#disconnect').click();
    await eventually('it says so', async () => /127\.0\.0\.1 · disconnected/.test(await shown()));
    await page.locator('#message').fill('one more thing');
    await page.locator('#message').press('Enter');
    await eventually('it cannot be sent', async () => (await page.locator('#problem').innerText()) !== '');
    assert.equal(await page.locator('#message').inputValue(), 'one more thing');
    await window.screenshot('conversation-disconnected');
  } finally {
    gateway.close();
  }
});
