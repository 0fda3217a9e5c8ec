// rides.mjs: what `make rides` runs: all that needs real editors, browsers, terminals, agents or other systems and is not in `make test`.
// From the environment: ONLY=vscode/git (patterns, with spaces between them), CHANGED=origin/main (what a change since then can break), REPEAT=20
// (so many times, without a second try). --table writes the table of rides into CONTRIBUTING.md; --list prints what would run.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Needs } from './lib/needs.mjs';
import { matching, rides, table, touchedBy } from './lib/rides.mjs';
import { repeatRides, runRides } from './lib/runners.mjs';
import { Steps } from './lib/steps.mjs';

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

if (process.argv.includes('--table')) {
  const place = 'CONTRIBUTING.md';
  const marks = /(<!-- generated: rides -->\n)[^]*?(<!-- end of generated -->)/;
  fs.writeFileSync(place, fs.readFileSync(place, 'utf8').replace(marks, (_, begin, end) => `${begin}${table()}\n${end}`));
  process.exit(0);
}

const { ONLY, CHANGED, REPEAT } = process.env;
let wanted = rides();
if (ONLY) wanted = matching(wanted, ONLY.split(/\s+/));
else if (!CHANGED) wanted = wanted.filter(({ name }) => !name.startsWith('walk/')); // these are in `make test`
if (CHANGED) {
  const files = execFileSync('git', ['diff', '--name-only', '-z', `${CHANGED}...`], { encoding: 'utf8' }).split('\0');
  const uncommitted = execFileSync('git', ['diff', '--name-only', '-z', 'HEAD'], { encoding: 'utf8' }).split('\0');
  wanted = touchedBy(wanted, [...files, ...uncommitted].filter(Boolean));
}
if (wanted.length === 0) {
  console.log(ONLY ? `no ride matches ${ONLY}; there are ${rides().map(({ name }) => name).join(' ')}` : 'no ride belongs to what was changed');
  process.exit(ONLY ? 2 : 0);
}
if (process.argv.includes('--list')) {
  for (const { name } of wanted) console.log(name);
  process.exit(0);
}

const steps = new Steps();
const needs = new Needs(steps);
// A release takes minutes of one core: it is made beside the rides that need none.
const first = new Set(['rig packages', ...wanted.flatMap((ride) => ride.needs)].filter((name) => name !== 'release'));
await needs.all([...first]);
const prepare = (ride) => needs.all(ride.needs);
if (REPEAT) await steps.run(`rides, each ${REPEAT} times`, (tally) => repeatRides(wanted, Number(REPEAT), tally, prepare));
else await steps.run('rides', (tally) => runRides(wanted, tally, prepare));
process.exitCode = steps.close();
