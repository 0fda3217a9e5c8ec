// Runs the steps of a check, shows how long each took, and adds up what passed and what failed. A step that has no tests of
// its own counts as one. Steps may run beside one another: what each prints is one piece then, or lines that say whose they are.
import { spawn } from 'node:child_process';
import readline from 'node:readline';

/** What a step answers with. */
export class Tally {
  passed = 0;
  failed = 0;
  skipped = [];
  /** The names of what failed, where the runner says them. */
  names = [];
  /** What failed beside other tests and passed alone: said at the end, because it may be a fault. */
  second = [];
  /** How long each test took: `{name, seconds}`. */
  times = [];

  add(other) {
    this.passed += other.passed;
    this.failed += other.failed;
    for (const list of ['skipped', 'names', 'second', 'times']) this[list].push(...other[list]);
  }
}

const listed = 10;

export class Steps {
  #rows = [];
  #began = Date.now();

  /** run(name, body): body gets a Tally to fill and fails by throwing. What it answers is answered, undefined if it failed. */
  async run(name, body) {
    console.log(`\n== ${name}`);
    const began = Date.now();
    const tally = new Tally();
    let answer;
    try {
      answer = await body(tally);
      if (tally.passed + tally.failed + tally.skipped.length === 0) tally.passed = 1;
    } catch (error) {
      console.log(`FAILED: ${name}: ${error.message}`);
      if (tally.failed === 0) tally.failed = 1;
    }
    const seconds = (Date.now() - began) / 1000;
    this.#rows.push({ name, seconds, ...tally });
    console.log(`-- ${name}: ${tally.passed} passed, ${tally.failed} failed in ${seconds.toFixed(1)} s`);
    return answer;
  }

  /** Prints the table, the slowest, what needed a second try, and the closing line; answers the exit code. */
  close() {
    const sum = (field) => this.#rows.reduce((total, row) => total + row[field], 0);
    console.log('\n== summary');
    for (const row of this.#rows) {
      const word = row.failed ? 'FAIL' : row.passed ? 'ok  ' : '-   ';
      console.log(`${word} ${row.seconds.toFixed(1).padStart(7)} s  ${row.name}: ${row.passed} passed, ${row.failed} failed`);
    }
    const setUps = this.#rows.filter((row) => row.name.startsWith('set-up')).map(({ name, seconds }) => ({ name, seconds }));
    const slowest = [...setUps, ...this.#rows.flatMap((row) => row.times)].sort((a, b) => b.seconds - a.seconds).slice(0, listed);
    console.log(`\nthe ${slowest.length} slowest tests and set-ups of ${((Date.now() - this.#began) / 1000).toFixed(0)} s in all`);
    for (const { name, seconds } of slowest) console.log(`     ${seconds.toFixed(1).padStart(7)} s  ${name}`);
    for (const row of this.#rows) for (const skipped of row.skipped) console.log(`not run: ${row.name}: ${skipped}`);
    const second = this.#rows.flatMap((row) => row.second);
    for (const name of second) console.log(`passed only the second time, alone: ${name}`);
    console.log(second.length > 0 ? `${second.length} passed only the second time` : 'nothing needed a second try');
    console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
    return sum('failed') > 0 ? 1 : 0;
  }
}

/**
 * Runs a command, gives each line of its output to `onLine` (by default: prints it), and throws when it fails.
 * `quiet` holds the output back and prints it on failure alone; the answer is what was held.
 */
export async function command(program, args, { cwd, env, onLine, quiet = false } = {}) {
  const held = [];
  const take = onLine ?? (quiet ? (line) => held.push(line) : (line) => console.log(line));
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  const read = async (stream) => {
    for await (const line of readline.createInterface({ input: stream })) take(line);
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await ended;
  if (code !== 0) {
    for (const line of held) console.log(line);
    throw new Error(`${[program, ...args].join(' ').slice(0, 200)} ended with ${code}`);
  }
  return held;
}
