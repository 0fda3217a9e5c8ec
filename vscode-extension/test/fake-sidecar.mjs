#!/usr/bin/env node
// A sidecar that plays a script, for looking at the extension without the real one: `pillion.path` names a wrapper that
// runs this file. It takes orders as JSON lines on a Unix socket (PILLION_FAKE_SOCKET): {"method", "params", "request"}
// is sent to the editor, {"answers": {method: result}} is what it answers from then on, and every frame from the editor is
// written back to whoever is connected.
import { createServer } from "node:net";
import { rmSync } from "node:fs";

const path = process.env.PILLION_FAKE_SOCKET ?? "/tmp/pillion-fake.sock";
const watchers = new Set();
const log = [];
let next = 1;

const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
};

const tell = (frame) => {
  log.push(frame);
  for (const watcher of watchers) watcher.write(`${JSON.stringify(frame)}\n`);
};

const answers = {
  initialize: () => ({
    capabilities: {
      textDocumentSync: { openClose: true, change: 2, save: true },
      workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      experimental: { pillion: { protocolVersion: 1 } },
    },
    serverInfo: { name: "pillion", version: "0.1.0-fake" },
  }),
  shutdown: () => null,
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${name} was called` }], structuredContent: { ok: true }, isError: false }),
  "session/newTurn": () => ({}),
};

function receive(message) {
  tell(message);
  if (message.method === "exit") process.exit(0);
  if (message.id !== undefined && message.method) {
    send({ id: message.id, result: (answers[message.method] ?? (() => null))(message.params) });
  }
}

let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const head = buffer.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(buffer.subarray(0, head).toString())[1]);
    if (buffer.length < head + 4 + length) return;
    receive(JSON.parse(buffer.subarray(head + 4, head + 4 + length)));
    buffer = buffer.subarray(head + 4 + length);
  }
});
process.stdin.on("end", () => process.exit(0));

rmSync(path, { force: true });
createServer((socket) => {
  watchers.add(socket);
  for (const frame of log) socket.write(`${JSON.stringify(frame)}\n`);
  let rest = "";
  socket.on("data", (chunk) => {
    rest += chunk;
    for (let end; (end = rest.indexOf("\n")) >= 0; rest = rest.slice(end + 1)) {
      const order = JSON.parse(rest.slice(0, end));
      if (order.crash) process.exit(1);
      if (order.answers) {
        for (const [method, result] of Object.entries(order.answers)) answers[method] = () => result;
        continue;
      }
      send({ ...(order.request ? { id: `fake-${next++}` } : {}), method: order.method, params: order.params });
    }
  });
  socket.on("close", () => watchers.delete(socket));
  socket.on("error", () => watchers.delete(socket));
}).listen(path);
