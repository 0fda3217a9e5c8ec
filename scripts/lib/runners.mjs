// The two test runners, `go test` and `node --test`: each run adds what its own output says to a tally.
import { Tally, command } from './steps.mjs';

/**
 * `go test` of packages beside one another. Tests that failed run once more when all others are done, alone: what passes
 * then is counted, and named at the end.
 */
export async function goTest(flags, packages, tally, options) {
  const first = await goTestOnce([...flags, ...packages], options);
  tally.add(first.own);
  for (const [name, tests] of first.failed) {
    console.log(`\n-- once more, alone: ${name} ${tests.join(' ')}`);
    const only = tests.length > 0 ? ['-run', `^(${tests.join('|')})$`] : []; // none: it ended before its tests did
    const again = await goTestOnce([...flags, '-count=1', ...only, name], options);
    tally.add(again.own);
    if (again.error) tally.failed += Math.max(1, [...again.failed.values()].flat().length);
    else tally.second.push(`${name}: ${tests.join(', ') || 'the package itself'}`);
  }
  if (first.error && (tally.failed > 0 || first.failed.size === 0)) throw first.error;
}

/** Prints one line a package and the whole output of what failed. Failures are in `failed`, by package, and not in `own`. */
async function goTestOnce(args, options) {
  const own = new Tally();
  const failed = new Map();
  const times = new Map(); // of the tests, by package
  const running = new Map(); // by package: one that ends before them has more to run again than what failed
  const output = new Map();
  const keyOf = (event) => `${event.Package ?? event.ImportPath} ${event.Test ?? ''}`;
  const onEvent = (event) => {
    const key = keyOf(event);
    if (event.Action === 'run') running.set(event.Package, (running.get(event.Package) ?? new Set()).add(event.Test));
    if (event.Action === 'output' || event.Action === 'build-output') output.set(key, (output.get(key) ?? '') + event.Output);
    if (!['pass', 'fail', 'skip'].includes(event.Action)) return;
    settle(event, { output: output.get(key) ?? '', own, failed, times, running });
    output.delete(key);
  };
  const onLine = (line) => {
    const event = parseEvent(line);
    if (event) onEvent(event);
    else console.log(line);
  };
  let error;
  try {
    await command('go', ['test', '-json', ...args], { ...options, onLine });
  } catch (thrown) {
    error = thrown;
  }
  for (const left of output.values()) process.stdout.write(left);
  return { own, failed, error };
}

function settle(event, { output, own, failed, times, running }) {
  const seconds = event.Elapsed ?? 0;
  if (!event.Test) {
    const word = event.Action === 'skip' ? 'none' : event.Action; // a package without tests is no skipped test
    const slowest = (times.get(event.Package) ?? []).reduce((a, b) => a.seconds > b.seconds ? a : b, { seconds: 0 });
    const isCached = slowest.seconds > seconds + 1; // Go gives the times of then with what it has in its cache
    const of = slowest.seconds > 2 ? `, of which ${slowest.name.split(' ')[1]} ${slowest.seconds.toFixed(1)} s` : '';
    console.log(`${word} ${event.Package} ${isCached ? 'as before' : `${seconds.toFixed(1)} s${of}`}`);
    if (!isCached) own.times.push(...times.get(event.Package) ?? []);
    if (event.Action !== 'fail') return;
    process.stdout.write(output);
    if (!failed.has(event.Package) || running.get(event.Package)?.size > 0) failed.set(event.Package, []);
    return;
  }
  running.get(event.Package)?.delete(event.Test);
  const outermost = !event.Test.includes('/');
  if (outermost && event.Action !== 'skip') times.set(event.Package, [...times.get(event.Package) ?? [], { name: `${event.Package} ${event.Test}`, seconds }]);
  if (event.Action === 'pass') own.passed++;
  if (event.Action === 'skip') own.skipped.push(`${event.Package} ${event.Test}: ${reason(output)}`);
  if (event.Action !== 'fail') return;
  process.stdout.write(output);
  if (outermost) failed.set(event.Package, [...failed.get(event.Package) ?? [], event.Test]);
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
    if (skipped && !skipped[1].includes('test name does not match pattern')) tally.skipped.push(skipped[1].trim());
    const ended = /^\s*([✔✖]) (.*) \(([\d.]+)ms\)$/.exec(plain);
    if (!ended) return;
    const [, mark, name, milliseconds] = ended;
    if (mark === '✖' && !tally.names.includes(name)) tally.names.push(name);
    if (mark === '✔') tally.times.push({ name, seconds: milliseconds / 1000 });
  };
  await command(program, args, { ...options, onLine });
}

/**
 * Runs each ride of `lib/rides.mjs` from both ends of the list at once, and prints the output of each in one piece: one in VS Code keeps a
 * core and a half busy, and two of them take twice the time; those are at one end, and the others, which wait most of their time, at
 * the other. `prepare` makes what a ride still needs. What failed runs once more when all others are done, alone: what passes then is counted,
 * and named at the end.
 */
export async function runRides(rides, tally, prepare = async () => {}) {
  const failed = [];
  await fromBothEnds(rides, async (ride) => {
    await prepare(ride);
    const { own, error } = await runRide(ride);
    tally.add({ ...own, failed: 0, names: [] });
    if (error) failed.push({ ride, names: own.names.some((name) => name.endsWith('.test.js')) ? [] : own.names }); // it ended before its tests did
  });
  const errors = [];
  for (const { ride, names } of failed) {
    console.log(`\n-- once more, alone: ${ride.name} ${names.join('; ')}`);
    const { own, error } = await runRide(ride, names.map((name) => `--test-name-pattern=${exactly(name)}`));
    tally.add(own);
    if (error || own.passed < names.length) errors.push(`${ride.name}: ${own.names.join('; ') || error?.message || 'not all of it ran again'}`);
    else tally.second.push(`${ride.name}: ${names.join('; ') || 'all of it'}`);
  }
  if (errors.length > 0) throw new Error(errors.join('\n'));
}

/** Runs each ride so many times, without a second try, and prints how often each failed, and what. */
export async function repeatRides(rides, times, tally, prepare) {
  const counts = new Map(rides.map(({ name }) => [name, { failed: 0, names: new Map() }]));
  await fromBothEnds(Array.from({ length: times }, () => rides).flat(), async (ride) => {
    await prepare(ride);
    const { own, error } = await runRide(ride);
    const count = counts.get(ride.name);
    tally.add({ ...own, failed: 0, names: [] });
    if (!error) return;
    tally.failed++;
    count.failed++;
    for (const name of own.names.length > 0 ? own.names : [error.message]) count.names.set(name, (count.names.get(name) ?? 0) + 1);
  });
  for (const [name, { failed, names }] of counts) {
    console.log(`${name}: failed ${failed} of ${times} times`);
    for (const [test, often] of names) console.log(`  ${often} × ${test}`);
  }
  if (tally.failed > 0) throw new Error(`${tally.failed} of ${rides.length * times} failed`);
}

async function fromBothEnds(list, work) {
  const left = [...list];
  const from = async (end) => {
    for (let one = left[end](); one !== undefined; one = left[end]()) await work(one);
  };
  await Promise.all([from('shift'), from('pop')]);
}

const exactly = (name) => `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`;

async function runRide({ name, file, run }, only = []) {
  const began = Date.now();
  const own = new Tally();
  const lines = [];
  let error;
  try {
    if (run) await run(own);
    else await nodeTest('node', ['--test', '--test-reporter=spec', ...only, file], own, { cwd: 'e2e', print: (line) => lines.push(line) });
    if (own.passed + own.failed + own.skipped.length === 0) own.passed = 1;
  } catch (thrown) {
    error = thrown;
    if (run) lines.push(thrown.message);
  }
  const seconds = (Date.now() - began) / 1000;
  if (own.times.length === 0) own.times.push({ name, seconds });
  console.log([`-- ${name}, ${seconds.toFixed(1)} s${error ? ', FAILED' : ''}`, ...lines].join('\n'));
  return { own, error };
}
