// A gateway's token passes through the language client, which logs whole requests when the user asks for it.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import type * as jsonrpc from "vscode-languageserver-protocol/node";
import type { LogOutputChannel } from "vscode";
import { withoutTokens } from "../../src/trace-log";

const { createProtocolConnection, Trace, TraceFormat } = createRequire(join(process.cwd(), "node_modules", "vscode-languageclient", "package.json"))("vscode-languageserver-protocol/node") as typeof jsonrpc;

for (const traceFormat of [TraceFormat.Text, TraceFormat.JSON]) {
  test(`no token is in the most verbose log of the traffic, as ${traceFormat}`, async () => {
    const lines: string[] = [];
    const log = withoutTokens({ logLevel: 1, trace: (line: string) => lines.push(line) } as unknown as LogOutputChannel);
    const connection = createProtocolConnection(new PassThrough(), new PassThrough());
    connection.listen();
    await connection.trace(Trace.Verbose, { log: (line: unknown, data?: string) => { log.trace(typeof line === "string" ? `${line}\n${data ?? ""}` : JSON.stringify(line)); } }, { sendNotification: false, traceFormat });
    void connection.sendRequest("gateway/connect", { url: "wss://example.org", token: 's3cr3t\\"t0k3n' }).catch(() => undefined);
    connection.dispose();
    assert.match(lines.join("\n"), /gateway\/connect[^]*example\.org[^]*\(secret\)/);
    assert.doesNotMatch(lines.join("\n"), /s3cr3t|t0k3n/);
    assert.equal(log.logLevel, 1);
  });
}
