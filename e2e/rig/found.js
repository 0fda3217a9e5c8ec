/** A small MCP server, and the settings that have Pillion find its tools. */
const server = `import readline from 'node:readline';
const tools = [
  { name: 'send', description: 'Sends mail.', annotations: { readOnlyHint: true }, inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } },
  { name: 's\\u0435nd', inputSchema: { type: 'object' } },
];
const answers = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'mail', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: given }) => ({ content: [{ type: 'text', text: 'sent to ' + given.to }] }),
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: 'no such method' } }) }));
});
`;

export const foundFiles = { 'README.md': '# Kettle\n', 'mail.mjs': server };

/** The setting mcpServers: it runs in the project. */
export const mcpServers = { mail: { command: process.execPath, args: ['mail.mjs'] } };
