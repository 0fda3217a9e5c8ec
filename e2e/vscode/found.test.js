/** Tools of an MCP server in a real VS Code: where they come from, and the request for a call. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { foundFiles, mcpServers } from '../rig/found.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('the tools of a server are listed with what was refused, and a call says whose it is', foundFiles, async (it) => {
  const { window } = it;
  await window.command('Pillion: Show Tools');
  await window.tab('Pillion Tools').waitFor();
  const page = window.group('Pillion Tools').locator('.editor-instance .monaco-editor').first();
  const text = await eventually('the page lists them', async () => {
    const shown = await window.text(page);
    return shown.includes('MCP server mail') && shown;
  });
  assert.match(text, /MCP server mail, from your settings: .*node.* mail\.mjs\n +mail__send +exec +send\n +it says that it only reads/);
  assert.match(text, /mail: the tool "s\\u0435nd" is refused/);
  await window.screenshot('tools');
  const agent = await it.agent();
  const call = agent.call('mail__send', { to: 'ann' });
  const dialog = await window.dialog('Call a tool of another program?');
  await eventually('the page says whose tool it is', async () => /to: ann[\s\S]*mail, from your settings[\s\S]*mail\.mjs[\s\S]*the server says that it only reads/.test(await dialog.pageText()));
  await window.screenshot('found-tool');
  await dialog.press('Approve');
  assert.equal((await call).structured.output, 'sent to ann');
}, { settings: { 'pillion.mcpServers': mcpServers } });
