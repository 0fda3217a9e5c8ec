/** Tools of an MCP server in a real Neovim: where they come from, and the request for a call. */
import assert from 'node:assert/strict';
import { eventually } from '../rig/expect.js';
import { foundFiles, mcpServers } from '../rig/found.js';
import { ride, takePictures } from './ride.js';

takePictures();

const lua = `{ mail = { command = ${JSON.stringify(mcpServers.mail.command)}, args = { ${JSON.stringify(mcpServers.mail.args[0])} } } }`;

ride('the tools of a server are listed with what was refused, and a call says whose it is', foundFiles, async (it) => {
  const { nvim } = it;
  await nvim.command('Pillion tools');
  const text = await eventually('the list is there', async () => {
    const shown = (await nvim.lines()).join('\n');
    return shown.includes('MCP server mail') && shown;
  });
  assert.match(text, /MCP server mail, from your settings: .*node.* mail\.mjs\n +mail__send +exec +send\n +it says that it only reads/);
  assert.match(text, /mail: the tool "s\\u0435nd" is refused/);
  nvim.screenshot('tools');
  const agent = await it.agent();
  const call = agent.call('mail__send', { to: 'ann' });
  const dialog = await nvim.dialog('call mail__send');
  await dialog.show();
  await nvim.sees(/mail, from your settings/);
  nvim.screenshot('found-tool');
  await dialog.answer('approve');
  assert.equal((await call).structured.output, 'sent to ann');
}, { setup: `require('pillion').setup({ settings = { mcpServers = ${lua} } })\n` });
