// What `make bench` measures of search: questions about the kernel's source, each to a sidecar and to a ripgrep process in
// turn, with the same files and the same matches.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Tree, ask, expect, memory, sidecar, timed, trees, versus } from './bench-git.mjs';

/** What is asked, with what it may take of ripgrep's time. */
const questions = [
  { what: 'a literal', query: 'pci_enable_device_mem', exact: true, limit: 1 },
  { what: 'a literal, ignoring case', query: 'pci_enable_device_mem', limit: 1 },
  { what: 'a word that is nowhere', query: 'xyzzyplughabsent', exact: true, limit: 0.9 },
  { what: 'a word that is nowhere, ignoring case', query: 'xyzzyplughabsent', limit: 0.9 },
  { what: 'a regular expression with a literal', query: 'kmalloc_array\\(\\w+, sizeof\\(u16\\)', exact: true, regex: true, limit: 1.2 },
  { what: 'a regular expression without one', query: '[a-z]{3}_[0-9]{5}_[a-z]+', exact: true, regex: true, limit: 1.5 },
  { what: 'one of four words', query: 'ERESTARTNOHAND|EMEDIUMTYPE|ENOTUNIQ|EKEYREVOKED', exact: true, regex: true, limit: 1.2 },
];

/** ripgrep's arguments for the files that we search: hidden ones too, none of git's own, none larger than we read. */
const files = ['--no-config', '--hidden', '--glob', '!.git', '--max-filesize', '10M', '--line-number', '--no-heading'];

function version() {
  try {
    return execFileSync('rg', ['--version'], { encoding: 'utf8' }).split('\n')[0];
  } catch {
    return undefined;
  }
}

/** `around` is as for gitRows. */
export async function searchRows(around) {
  const against = version();
  if (against === undefined) {
    console.log('search was not measured: ripgrep is not installed');
    return;
  }
  const tree = new Tree(path.join(trees(around), 'linux'));
  try {
    tree.ignoreLess();
    const child = await sidecar(around, tree.folder);
    for (const question of questions) await compare(around, tree.folder, child, question, against);
    around.row('memory of the sidecar after that, against 300 MB', memory(child.pid), 300, 'MB', 1);
    await child.end();
  } finally {
    tree.release();
  }
}

async function compare({ row }, folder, child, { what, query, exact, regex, limit }, against) {
  const args = [...files, ...(exact ? [] : ['--ignore-case']), ...(regex ? [] : ['--fixed-strings']), '--regexp', query];
  let hits = 0;
  const ours = async () => {
    const { took, answer } = await ask(child, 'search_in_project', { query, regex: regex === true, case_sensitive: exact === true, max_matches: 10_000, context_lines: 0 });
    hits = answer.count;
    return took;
  };
  await versus(row, `search for ${what}, against ${against}`, limit, 5, ours, () => timed(folder, 'rg', args));
  expect(`hits for ${query}`, hits, lines(folder, args));
}

function lines(folder, args) {
  try {
    return execFileSync('rg', args, { cwd: folder, encoding: 'latin1', maxBuffer: 1 << 28 }).split('\n').length - 1;
  } catch (error) {
    if (error.status === 1) return 0; // no match
    throw error;
  }
}
