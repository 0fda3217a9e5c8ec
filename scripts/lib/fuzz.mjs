// The fuzz targets that are tried longer than with their seeds: this list is the only one.
import { command } from './steps.mjs';

export const fuzzTargets = [
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

/** A time as Go reads one, or a count of inputs such as 20000x: a count does not depend on how busy the machine is. */
const effort = process.env.FUZZ_TIME || '20000x';

/** Tries a target with random inputs. What it finds is in testdata/fuzz of its package then: a seed to commit with the fix. */
export async function fuzz({ pkg, name }) {
  const lines = [];
  try {
    await command('go', ['test', pkg, '-run', '^$', '-fuzz', `^${name}$`, '-fuzztime', effort, '-parallel', '1'], { onLine: (line) => lines.push(line) });
  } catch (error) {
    const said = lines.filter((line) => !line.startsWith('fuzz: '));
    if (!endedInTime(said)) throw new Error([...said, error.message].join('\n'));
  }
  // `go test -fuzz` is content when there is no such target.
  const tries = lines.map((line) => /execs: (\d+)/.exec(line)?.[1]).filter(Boolean).at(-1);
  if (!tries) throw new Error(`${pkg} has no ${name}, or it tried nothing: ${lines.join('; ')}`);
  console.log(`ok ${name}: ${tries} tries`);
}

/**
 * Before Go 1.27 the end of the time can look like a failure (golang/go#75804). It is none if that is all that was said:
 * of a real one Go writes the input down.
 */
function endedInTime(said) {
  return said.some((line) => /^ {4}context deadline exceeded$/.test(line))
    && said.every((line) => /^( {4}context deadline exceeded|--- FAIL: \w+ \([\d.]+s\)|FAIL\b.*|exit status 1)?$/.test(line));
}
