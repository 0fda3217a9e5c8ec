// What `make bench` measures of search: questions about the kernel's source, each to a sidecar and to a ripgrep process in
// turn, with the same files and the same matches; first without the index that Pillion makes of large projects, then with it.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Tree, ask, expect, memory, sidecar, timed, trees, versus } from './bench-git.mjs';

/** What is asked, with what it may take of ripgrep's time without an index and with it. */
const questions = [
  { what: 'a literal', query: 'pci_enable_device_mem', exact: true, limits: [1, 0.05] },
  { what: 'a literal, ignoring case', query: 'pci_enable_device_mem', limits: [1, 0.05] },
  { what: 'a word that is nowhere', query: 'xyzzyplughabsent', exact: true, limits: [0.9, 0.01] },
  { what: 'a regular expression with a literal', query: 'kmalloc_array\\(\\w+, sizeof\\(u16\\)', exact: true, regex: true, limits: [1.2, 0.15] },
  { what: 'a regular expression without one', query: '[a-z]{3}_[0-9]{5}_[a-z]+', exact: true, regex: true, limits: [1.5, 1.2] },
  { what: 'one of four words', query: 'ERESTARTNOHAND|EMEDIUMTYPE|ENOTUNIQ|EKEYREVOKED', exact: true, regex: true, limits: [1.2, 0.15] },
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
    const without = await sidecar(around, tree.folder, { search: { indexMegabytes: 0 } });
    for (const question of questions) await compare(around, tree.folder, without, { ...question, what: `${question.what}, no index`, limit: question.limits[0] }, against);
    await without.end();
    await withIndex(around, tree.folder, against);
  } finally {
    tree.release();
  }
}

async function withIndex(around, folder, against) {
  let built;
  const began = { at: 0 };
  const whole = new Promise((resolve) => { built = resolve; });
  const child = await sidecar(around, folder, {}, ({ method, params }) => {
    if (method !== 'workspace/index') return;
    if (params.building && began.at === 0) began.at = performance.now();
    if (!params.building) built({ ...params, took: performance.now() - began.at });
  });
  const before = memory(child.pid);
  await ask(child, 'search_in_project', search(questions[2]));
  const index = await whole;
  const once = timed(folder, 'rg', [...files, '--fixed-strings', '--regexp', questions[2].query, '.']);
  around.row(`the index is built, against one ${against}`, index.took, once, 'ms', 10);
  const text = execFileSync('bash', ['-c', 'rg --no-config --hidden --glob "!.git" --max-filesize 10M --files --null . | xargs -0 cat | wc -c'], { cwd: folder, encoding: 'utf8' });
  around.row(`memory of the index (${index.files} files), against their text`, index.bytes / 1e6, Number(text) / 1e6, 'MB', 0.08);
  for (const question of questions) await compare(around, folder, child, { ...question, limit: question.limits[1] }, against);
  around.row('memory of the sidecar after that, against before', memory(child.pid), before, 'MB');
  await child.end();
}

const search = ({ query, regex, exact }) => ({ query, regex: regex === true, case_sensitive: exact === true, max_matches: 10_000, context_lines: 0 });

async function compare({ row }, folder, child, question, against) {
  const { what, query, exact, regex, limit } = question;
  const args = [...files, ...(exact ? [] : ['--ignore-case']), ...(regex ? [] : ['--fixed-strings']), '--regexp', query, '.']; // without a place ripgrep would read its standard input
  let hits = 0;
  const ours = async () => {
    const { took, answer } = await ask(child, 'search_in_project', search(question));
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
