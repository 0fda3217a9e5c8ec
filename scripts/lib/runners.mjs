// The two test runners, `go test` and `node --test`: each run adds what its own output says to a tally.
import { command } from './steps.mjs';

/** `go test -json`: prints one line a package and the whole output of what failed. */
export async function goTest(args, tally, options) {
  const output = new Map();
  const keyOf = (event) => `${event.Package} ${event.Test ?? ''}`;
  const onEvent = (event) => {
    const key = keyOf(event);
    switch (event.Action) {
      case 'output':
      case 'build-output':
        output.set(key, (output.get(key) ?? '') + event.Output);
        return;
      case 'pass':
      case 'fail':
      case 'skip':
        settle(event, output.get(key) ?? '', tally);
        output.delete(key);
    }
  };
  const onLine = (line) => {
    const event = parseEvent(line);
    if (event) onEvent(event);
    else console.log(line);
  };
  try {
    await command('go', ['test', '-json', ...args], { ...options, onLine });
  } finally {
    for (const left of output.values()) process.stdout.write(left);
  }
}

function settle(event, output, tally) {
  if (!event.Test) {
    const word = event.Action === 'skip' ? 'none' : event.Action; // a package without tests is no skipped test
    console.log(`${word} ${event.Package} ${(event.Elapsed ?? 0).toFixed(1)} s`);
    if (event.Action === 'fail') process.stdout.write(output);
    return;
  }
  if (event.Action === 'pass') tally.passed++;
  if (event.Action === 'skip') tally.skipped.push(`${event.Package} ${event.Test}: ${reason(output)}`);
  if (event.Action === 'fail') {
    tally.failed++;
    process.stdout.write(output);
  }
}

function reason(output) {
  return output.split('\n').filter((line) => !/^(=== |--- )/.test(line.trim())).join(' ').trim() || 'no reason given';
}

function parseEvent(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Any command that runs `node --test` with the spec or the tap reporter. */
export async function nodeTest(program, args, tally, options) {
  const onLine = (line) => {
    console.log(line);
    const plain = line.replace(/\x1b\[[0-9;]*m/g, '');
    const closing = /^(?:ℹ|#) (pass|fail|cancelled) (\d+)$/.exec(plain);
    if (closing) tally[closing[1] === 'pass' ? 'passed' : 'failed'] += Number(closing[2]);
    const skipped = /^\s*(?:﹣|ok .*# SKIP) ?(.*)/.exec(plain);
    if (skipped) tally.skipped.push(skipped[1].trim());
  };
  await command(program, args, { ...options, onLine });
}
