// The fuzz targets that are tried with more than their seeds: this list is the only one.
import { command } from './steps.mjs';

/** Each with how many inputs a ride tries, some seconds' worth: a count does not depend on how busy the machine is. */
export const fuzzTargets = [
  { pkg: './workspace', name: 'FuzzResolveStaysInside', inputs: 20000 },
  { pkg: './tools/file', name: 'FuzzEditsSpliceBytes', inputs: 500 },
  { pkg: './tools/skills', name: 'FuzzDescribe', inputs: 20000 },
  { pkg: './tools/match', name: 'FuzzFindText', inputs: 20000 },
  { pkg: './workspace/change', name: 'FuzzMerge', inputs: 5000 },
  { pkg: './workspace/patch', name: 'FuzzParse', inputs: 20000 },
  { pkg: './workspace/patch', name: 'FuzzApply', inputs: 2000 },
  { pkg: './workspace/diff', name: 'FuzzSelect', inputs: 5000 },
  { pkg: './workspace/search', name: 'FuzzGlobAgainstRipgrep', inputs: 500 },
  { pkg: './workspace/search', name: 'FuzzFind', inputs: 5000 },
  { pkg: './internal/wire', name: 'FuzzFrames', inputs: 20000 },
];

/** Tries a target with random inputs; FUZZ_TIME is a time for each, as Go reads one. What it finds is in testdata/fuzz of its package then: a seed to commit with the fix. */
export async function fuzz({ pkg, name, inputs }) {
  const lines = [];
  try {
    await command('go', ['test', pkg, '-run', '^$', '-fuzz', `^${name}$`, '-fuzztime', process.env.FUZZ_TIME || `${inputs}x`, '-parallel', '1'], { onLine: (line) => lines.push(line) });
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
