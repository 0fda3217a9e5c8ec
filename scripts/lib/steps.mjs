// Runs the steps of a check one after the other, shows how long each took, and adds up what passed and what failed. A
// step that has no tests of its own counts as one.
import { spawn } from 'node:child_process';
import readline from 'node:readline';

/** What a step answers with: null fields mean that it is a plain check. */
export class Tally {
  passed = 0;
  failed = 0;
  skipped = [];
  /** The names of what failed, where the runner says them. */
  names = [];
  /** What failed beside other tests and passed alone: told at the end, because it may be a fault. */
  second = [];

  add(other) {
    this.passed += other.passed;
    this.failed += other.failed;
    for (const list of ['skipped', 'names', 'second']) this[list].push(...other[list]);
  }
}

export class Steps {
  #rows = [];

  /** run(name, body): body gets a Tally to fill and fails by throwing. */
  async run(name, body) {
    console.log(`\n== ${name}`);
    const began = Date.now();
    const tally = new Tally();
    try {
      await body(tally);
      if (tally.passed + tally.failed + tally.skipped.length === 0) tally.passed = 1;
    } catch (error) {
      console.log(`FAILED: ${error.message}`);
      if (tally.failed === 0) tally.failed = 1;
    }
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    this.#rows.push({ name, seconds, ...tally });
    console.log(`-- ${name}: ${tally.passed} passed, ${tally.failed} failed in ${seconds} s`);
  }

  /** Prints the table and the closing line; answers the exit code. */
  close() {
    const sum = (field) => this.#rows.reduce((total, row) => total + row[field], 0);
    console.log('\n== summary');
    for (const row of this.#rows) {
      const word = row.failed ? 'FAIL' : row.passed ? 'ok  ' : '-   ';
      console.log(`${word} ${row.seconds.padStart(7)} s  ${row.name}: ${row.passed} passed, ${row.failed} failed`);
    }
    for (const row of this.#rows) {
      for (const skipped of row.skipped) console.log(`not run: ${row.name}: ${skipped}`);
      for (const name of row.second) console.log(`passed only the second time, alone: ${name}`);
    }
    console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
    return sum('failed') > 0 ? 1 : 0;
  }
}

/**
 * Runs a command, gives each line of its output to `onLine` (by default: prints it), and throws when it fails.
 * `quiet` holds the output back and prints it on failure alone.
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
