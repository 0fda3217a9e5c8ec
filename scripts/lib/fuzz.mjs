// The fuzz targets that every check runs, and how: this list is the only one.
import { command } from './steps.mjs';

const targets = [
  { pkg: './workspace', name: 'FuzzResolveStaysInside' },
  { pkg: './tools', name: 'FuzzEditsSpliceBytes' },
  { pkg: './tools/skills', name: 'FuzzDescribe' },
  { pkg: './tools/match', name: 'FuzzFindText' },
  { pkg: './workspace/change', name: 'FuzzMerge' },
  { pkg: './workspace/patch', name: 'FuzzParse' },
  { pkg: './workspace/patch', name: 'FuzzApply' },
  { pkg: './workspace/diff', name: 'FuzzSelect' },
  { pkg: './workspace/search', name: 'FuzzGlobAgainstRipgrep' },
  { pkg: './workspace/search', name: 'FuzzFind' },
  { pkg: './internal/wire', name: 'FuzzFrames' },
];

/** For each target; `make fuzz` gives them longer. */
const time = process.env.FUZZ_TIME || '5s';
const longer = '60s'; // where the time went by before the seeds had been tried
const atOnce = 2;

/** Runs each target for its time, two beside one another. What is found is in testdata/fuzz of its package then: a seed to commit with the fix. */
export async function fuzz(tally) {
  const waiting = [...targets];
  const worker = async () => {
    for (let target = waiting.shift(); target; target = waiting.shift()) {
      const failure = await run(target, time);
      if (failure) tally.failed++;
      else tally.passed++;
      if (failure) console.log(failure);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (tally.failed > 0) throw new Error(`${tally.failed} of ${targets.length} targets failed`);
}

/**
 * Before Go 1.27 the end of the time can look like a failure (golang/go#75804). It is none if that is all that was said:
 * of a real one Go writes the input down.
 */
const endedInTime = (/** @type {string[]} */ said) => said.some((line) => /^ {4}context deadline exceeded$/.test(line))
  && said.every((line) => /^( {4}context deadline exceeded|--- FAIL: \w+ \([\d.]+s\)|FAIL\b.*|exit status 1)?$/.test(line));

/** Answers what went wrong, or nothing. `go test -fuzz` is content when there is no such target; this is not. */
async function run({ pkg, name }, within) {
  const args = ['test', pkg, '-run', '^$', '-fuzz', `^${name}$`, '-fuzztime', within, '-parallel', '1'];
  const lines = [];
  try {
    await command('go', args, { onLine: (line) => lines.push(line) });
  } catch (error) {
    const said = lines.filter((line) => !line.startsWith('fuzz: '));
    if (!endedInTime(said)) return [...said, error.message].join('\n');
  }
  const tries = lines.map((line) => /execs: (\d+)/.exec(line)?.[1]).filter(Boolean).at(-1);
  if (!tries && within !== longer && lines.some((line) => line.includes('gathering baseline coverage'))) return run({ pkg, name }, longer);
  if (!tries) return `${pkg} has no ${name}, or it tried nothing: ${lines.join('; ')}`;
  console.log(`ok ${name}: ${tries} tries in ${within}`);
}
