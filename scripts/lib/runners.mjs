// The two test runners, `go test` and `node --test`: each run adds what its own output says to a tally.
import { Tally, command } from './steps.mjs';

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
export async function nodeTest(program, args, tally, { print = (line) => console.log(line), ...options } = {}) {
  const onLine = (line) => {
    print(line);
    const plain = line.replace(/\x1b\[[0-9;]*m/g, '');
    const closing = /^(?:ℹ|#) (pass|fail|cancelled) (\d+)$/.exec(plain);
    if (closing) tally[closing[1] === 'pass' ? 'passed' : 'failed'] += Number(closing[2]);
    const skipped = /^\s*(?:﹣|ok .*# SKIP) ?(.*)/.exec(plain);
    if (skipped) tally.skipped.push(skipped[1].trim());
    const failed = /^\s*✖ (.*) \([\d.]+ms\)$/.exec(plain);
    if (failed && !tally.names.includes(failed[1])) tally.names.push(failed[1]);
  };
  await command(program, args, { ...options, onLine });
}

/**
 * Runs each test file in a process of its own, `atOnce` beside one another, and prints its output in one piece. A file
 * that failed is run once more when all others are done, alone: what passes then is counted, and named at the end.
 */
export async function testFiles(files, atOnce, tally, options) {
  const left = [...files];
  const failed = [];
  const work = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const { own, error } = await testFile(file, options);
      if (error) failed.push({ file, first: own });
      else tally.add(own);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const errors = [];
  for (const { file, first } of failed) {
    console.log(`\n-- once more, alone: ${file}`);
    const { own, error } = await testFile(file, options);
    tally.add(own);
    if (error) errors.push(error.message);
    else tally.second.push(`${file}: ${first.names.join('; ') || 'the file itself'}`);
  }
  if (errors.length > 0) throw new Error(errors.join('\n'));
}

async function testFile(file, options) {
  const own = new Tally();
  const lines = [];
  let error;
  try {
    await nodeTest('node', ['--test', '--test-reporter=spec', file], own, { ...options, print: (line) => lines.push(line) });
  } catch (thrown) {
    error = thrown;
  }
  console.log([`-- ${file}`, ...lines].join('\n'));
  return { own, error };
}
