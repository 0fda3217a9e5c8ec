/** Starts a real agent program for one turn without a terminal, its model being on loopback. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { program } from './places.js';

/** @typedef {'claude' | 'codex' | 'qwen' | 'gemini' | 'opencode'} Name */

/** All of them. @type {Name[]} */
export const agents = ['claude', 'codex', 'qwen', 'gemini', 'opencode'];

/** What each needs besides its configuration: nothing here is about Pillion.
 * @type {Record<Name, (url: string, home: string, prompt: string) => {args: string[], env: Record<string, string>}>} */
const launches = {
  claude: (url, _home, prompt) => ({
    args: ['-p', prompt],
    env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }),
  codex: (url, home, prompt) => {
    nameModel(path.join(home, '.codex', 'config.toml'), url);
    return { args: ['exec', '--skip-git-repo-check', prompt], env: {} };
  },
  // Of a model whose name it does not know Qwen Code thinks that it cannot see, and sends it no images.
  qwen: (url, _home, prompt) => ({
    args: ['--auth-type', 'openai', '-p', prompt],
    env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'gpt-4o' },
  }),
  // With a model of its own choice Gemini CLI asks another one first how hard the task is.
  gemini: (url, home, prompt) => {
    merge(path.join(home, '.gemini', 'settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } });
    return {
      args: ['-m', 'gemini-2.5-pro', '-p', prompt],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    };
  },
  opencode: (url, home, prompt) => {
    const models = { scripted: { name: 'scripted', attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } };
    const scripted = { npm: '@ai-sdk/openai-compatible', name: 'scripted', options: { baseURL: `${url}/v1`, apiKey: 'none' }, models };
    merge(path.join(home, '.config', 'opencode', 'opencode.json'), { provider: { scripted }, model: 'scripted/scripted' });
    return { args: ['run', prompt], env: {} };
  },
};

/** @param {string} file of JSON @param {object} more members of it */
function merge(file, more) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const known = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  fs.writeFileSync(file, JSON.stringify({ ...known, ...more }));
}

/** Codex knows its model from its configuration alone. Bare keys must stand before the first table.
 * @param {string} config @param {string} url */
function nameModel(config, url) {
  const bare = 'model = "scripted"\nmodel_provider = "scripted"\n';
  const table = `\n[model_providers.scripted]\nname = "scripted"\nbase_url = "${url}/v1"\nwire_api = "responses"\n`;
  fs.mkdirSync(path.dirname(config), { recursive: true });
  const rest = fs.existsSync(config) ? fs.readFileSync(config, 'utf8') : '';
  fs.writeFileSync(config, bare + rest + table);
}

/** What keeps each from asking anything else first, where it asks in a terminal. @param {'claude' | 'codex'} name @param {import('./sandbox.js').Sandbox} sandbox */
function settle(name, { home, project }) {
  if (name === 'claude') {
    const projects = { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } };
    merge(path.join(home, '.claude.json'), { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: { approved: ['none'], rejected: [] }, projects });
  } else {
    fs.appendFileSync(path.join(home, '.codex', 'config.toml'), `\n[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`);
  }
}

/**
 * How to start the agent in a terminal.
 * @param {'claude' | 'codex'} name @param {import('./sandbox.js').Sandbox} sandbox @param {string} url
 */
export function inTerminal(name, sandbox, url) {
  const { env } = launches[name](url, sandbox.home, '');
  settle(name, sandbox);
  return { command: [program(`agent ${name}`, name)], env };
}

/** How each is started as a sub-agent, and where it writes in its home. @type {Record<'qwen' | 'gemini' | 'opencode', {args: string[], writable: string[], more?: object}>} */
const subAgents = {
  qwen: { args: ['--acp', '--auth-type', 'openai'], writable: ['.qwen'] },
  gemini: { args: ['--acp', '-m', 'gemini-2.5-pro'], writable: ['.gemini'] },
  opencode: {
    args: ['acp'], writable: ['.local/share/opencode', '.local/state/opencode', '.cache/opencode', '.config/opencode'],
    more: { writesItself: true, env: { OPENCODE_PERMISSION: JSON.stringify({ edit: 'ask', bash: 'ask' }) } },
  },
};

/**
 * The agent as an entry of the setting task.runners.
 * @param {keyof typeof subAgents} name @param {import('./sandbox.js').Sandbox} sandbox @param {string} url
 */
export function asRunner(name, sandbox, url) {
  const { args, writable, more } = subAgents[name];
  const { env } = launches[name](url, sandbox.home, '');
  for (const folder of writable) fs.mkdirSync(path.join(sandbox.home, folder), { recursive: true });
  const own = /** @type {{env?: object}} */ (more ?? {});
  return { acp: [program(`agent ${name}`, name), ...args], writable: writable.map((folder) => `~/${folder}`), ...own, env: { ...env, ...own.env } };
}

/**
 * Answers what the agent said on its standard output.
 * @param {Name} name @param {import('./sandbox.js').Sandbox} sandbox @param {string} url @param {string} prompt
 * @returns {Promise<string>}
 */
export function run(name, sandbox, url, prompt) {
  const { args, env } = launches[name](url, sandbox.home, prompt);
  const child = spawn(program(`agent ${name}`, name), args, { cwd: sandbox.project, env: { ...sandbox.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let complained = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (complained += data));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`${name} ended with ${code}: ${said}\n${complained}`));
    });
  });
}
