// The output's log of the traffic with the sidecar, without what is secret: VS Code writes the output to disk.

import type { LogOutputChannel } from "vscode";

const token = /("token"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** The same log, in which a gateway's token is never shown, however verbose the traffic is logged. */
export function withoutTokens(log: LogOutputChannel): LogOutputChannel {
  const trace = (line: string, ...more: unknown[]): void => log.trace(line.replace(token, '$1"(secret)"'), ...more);
  return Object.create(log, { trace: { value: trace } }) as LogOutputChannel;
}
