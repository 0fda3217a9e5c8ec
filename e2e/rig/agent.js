/**
 * An agent as Pillion meets it: a real MCP client (the official SDK) that starts `pillion mcp` in the project, as an
 * agent's own configuration would.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { patience } from './expect.js';
import { pillion } from './places.js';

/** @typedef {{isError: boolean, text: string, structured: any}} ToolResult */

export class Agent {
  #sandbox;
  #client;
  #transport;
  /** What `pillion mcp` wrote on stderr. */
  stderr = '';

  /** @param {import('./sandbox.js').Sandbox} sandbox @param {string} name @param {string[]} within a command line that runs it elsewhere */
  constructor(sandbox, name, within = []) {
    this.#sandbox = sandbox;
    this.#client = new Client({ name, version: '1.0.0' });
    const [command, ...args] = [...within, pillion(), 'mcp', '--structured', '--answer-within', '0']; // a script asks for nothing again
    this.#transport = new StdioClientTransport({ command, args, cwd: sandbox.project, env: sandbox.env, stderr: 'pipe' });
    this.#transport.stderr?.on('data', (data) => (this.stderr += data));
  }

  /** @param {import('./sandbox.js').Sandbox} sandbox @param {string} [name] @param {string[]} [within] */
  static async start(sandbox, name = 'scripted-agent', within = []) {
    const agent = new Agent(sandbox, name, within);
    await agent.connect().catch((error) => { throw new Error(`${error}; it wrote: ${agent.stderr}`); });
    return agent;
  }

  async connect() {
    await this.#client.connect(this.#transport);
  }

  async tools() {
    return (await this.#client.listTools()).tools;
  }

  /** @param {string} name @param {Record<string, unknown>} args @param {{signal?: AbortSignal, timeout?: number, onprogress?: (told: {message?: string}) => void}} [options]
   * @returns {Promise<ToolResult>} */
  call(name, args, options = {}) {
    const answer = this.#call(name, args, options);
    // A test that failed before it waited for this has its own failure to report.
    answer.catch(() => undefined);
    return answer;
  }

  /** @param {string} name @param {Record<string, unknown>} args @param {{signal?: AbortSignal, timeout?: number, onprogress?: (told: {message?: string}) => void}} options
   * @returns {Promise<ToolResult>} */
  async #call(name, args, { signal, timeout = 2 * patience, onprogress }) {
    const result = await this.#client.callTool({ name, arguments: args }, undefined, { signal, timeout, onprogress });
    const content = /** @type {{type: string, text?: string}[]} */ (result.content);
    return { isError: result.isError === true, text: content.map((part) => part.text ?? '').join('\n'), structured: result.structuredContent };
  }

  /** The user writes to it, and its hook tells Pillion: only Claude Code has one here. @param {string} prompt */
  prompted(prompt) {
    const { project, env } = this.#sandbox;
    const said = execFileSync(pillion(), ['prompt', 'claude'], { cwd: project, env, input: JSON.stringify({ cwd: project, prompt }), encoding: 'utf8' });
    assert.equal(said, '', 'an agent would read that');
  }

  async close() {
    await this.#client.close();
  }
}
