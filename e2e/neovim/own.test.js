/** The requests of the agent's own tools in a real Neovim: a skill, a memory, a search, a sub-agent. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { ride, takePictures } from './ride.js';

takePictures();

const files = {
  'README.md': '# Kettle\n',
  '.agents/skills/release/SKILL.md': '---\nname: release\ndescription: How we release Kettle.\n---\n\n1. Raise the version.\n2. Tag it, and `git push --tags`.\n',
};

const search = http.createServer((_, answer) => answer.end(JSON.stringify({ results: [{ title: 'Kettles', url: 'https://example.org/kettles', content: 'All of them.' }] })));
search.listen(0, '127.0.0.1');
await once(search, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (search.address());

const settings = `{
  web = { search = { provider = 'searxng', url = 'http://127.0.0.1:${port}' } },
  task = { runners = { helper = { command = { '/bin/echo', 'done:', '{objective}' } } } },
}`;

ride('each request says in plain words what it is about', files, async (it) => {
  const { nvim } = it;
  const agent = await it.agent();
  /** @param {string} tool @param {Record<string, unknown>} args @param {string} about @param {RegExp} says */
  const ask = async (tool, args, about, says) => {
    const call = agent.call(tool, args);
    const dialog = await nvim.dialog(about);
    await dialog.show();
    await nvim.sees(says);
    nvim.screenshot(`own-${tool}`);
    await dialog.answer('approve');
    return (await call).structured;
  };
  assert.match((await ask('skill', { action: 'load', name: 'release' }, 'release', /Raise the version/)).content, /Tag it/);
  assert.equal((await ask('save_memory', { fact: 'Kettle is written in Python.' }, 'PILLION.md', /Kettle is written in Python/)).added, true);
  assert.equal((await ask('web_search', { query: 'electric kettle boiling point sensor' }, 'electric kettle', /127\.0\.0\.1/)).results[0].title, 'Kettles');
  assert.match((await ask('task', { agent: 'helper', objective: 'Find out why the kettle boils over, and mend it.' }, 'helper', /boils over/)).summary, /done: Find out/);
  search.close();
}, { setup: `require('pillion').setup({ settings = ${settings} })\n` });
