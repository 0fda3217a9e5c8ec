/** Starts a real agent program for one turn without a terminal, its model being on loopback. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { program } from './places.js';

/** @typedef {'claude' | 'codex' | 'qwen'} Name */

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
};

/** Codex knows its model from its configuration alone. Bare keys must stand before the first table.
 * @param {string} config @param {string} url */
function nameModel(config, url) {
  const bare = 'model = "scripted"\nmodel_provider = "scripted"\n';
  const table = `\n[model_providers.scripted]\nname = "scripted"\nbase_url = "${url}/v1"\nwire_api = "responses"\n`;
  fs.mkdirSync(path.dirname(config), { recursive: true });
  const rest = fs.existsSync(config) ? fs.readFileSync(config, 'utf8') : '';
  fs.writeFileSync(config, bare + rest + table);
}

/**
 * Answers what the agent said on its standard output.
 * @param {Name} name @param {import('./sandbox.js').Sandbox} sandbox @param {string} url @param {string} prompt
 * @returns {Promise<string>}
 */
export function run(name, sandbox, url, prompt) {
  const { args, env } = launches[name](url, sandbox.home, prompt);
  const child = spawn(program('agents', name), args, { cwd: sandbox.project, env: { ...sandbox.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
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
