/** `pillion watch` in a real terminal, and a person whose editor leaves out what they do not want. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Terminal } from '../plain/terminal.js';
import { pillion } from '../rig/places.js';
import { Watch } from '../terminal/watch.js';
import { reason, second, taken } from './story.js';

/** @param {import('../rig/sandbox.js').Sandbox} sandbox */
export async function open(sandbox) {
  const editor = path.join(sandbox.root, 'editor');
  fs.writeFileSync(editor, `#!/bin/sh\nexec sed -i 's/${second.to}/${second.from}/' "$1"\n`, { mode: 0o755 });
  const terminal = await Terminal.start(sandbox, [pillion(), 'watch'], { VISUAL: editor }, { columns: 80, rows: 60 });
  await terminal.sees(/Pillion watches/);
  return new Watch(sandbox, terminal);
}

/** What the person does there. @param {Watch} it @returns {import('./story.js').Person} */
export function person(it) {
  const { sandbox } = it;
  const pillionSays = (/** @type {string[]} */ ...args) => execFileSync(pillion(), args, { cwd: sandbox.project, env: sandbox.env, encoding: 'utf8' });
  return {
    sandbox,
    takesPart: async () => {
      await it.answers(/clock\.py {2}[^]*\+3 {2}−3/, 'e');
      return taken;
    },
    refuses: async () => {
      await it.answers(/BREAK = 30/, `r ${reason}`);
      return reason;
    },
    runs: () => it.answers(/\$ sh test\.sh/, 'a'),
    reverts: async () => {
      const { entries: [{ sessionId, turn }] } = JSON.parse(pillionSays('journal', 'list', '--json'));
      pillionSays('journal', 'revert', '--session', sessionId, '--turn', String(turn));
    },
  };
}
