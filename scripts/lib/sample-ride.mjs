// What the scripted agent of the sample project does and says, step by step, for the programs that let it ride in an editor.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** A person may take their time. */
export const aDay = 24 * 3600 * 1000;

/** Makes the project in a folder and answers the steps of the ride. */
export function sample(folder) {
  const made = execFileSync('go', ['run', '-buildvcs=false', './scripts/sample', folder], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(made);
}

/** Lets an agent ride, and prints what it says, calls and is told. */
export async function rideSample(agent, steps) {
  let refused = false; // the closing words of the script are for a ride that went well
  for (const { Say, Tool, Arguments } of steps) {
    console.log(`\nagent: ${!Tool && refused ? 'You refused a part of it, so I leave it at that.' : Say}`);
    if (!Tool) continue;
    console.log(`       ${Tool} ${JSON.stringify(Arguments)}`);
    const { isError, text } = await agent.call(Tool.replaceAll('.', '_'), Arguments, { timeout: aDay });
    refused ||= isError;
    console.log(text.split('\n').map((line) => `${isError ? '  !    ' : '       '}${line}`).join('\n'));
  }
}
