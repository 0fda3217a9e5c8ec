// A repository of 40,000 commits as a stream for git fast-import, always the same one: what `make bench` walks.
// Its 3,000 files lie four folders deep; most commits change one to three of them, every twentieth is a merge.
import { once } from 'node:events';

const commits = 40_000;
const files = 3_000;

/** The same numbers in every run (mulberry32). */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const random = numbers(7);
const authors = ['Ada Lovelace <ada@example.com>', 'Grace Hopper <grace@example.com>', 'Edsger Dijkstra <edsger@example.com>'];
const path = (i) => `area${i % 12}/part${Math.floor(i / 12) % 10}/src${Math.floor(i / 120) % 5}/file${i}.txt`;
const versions = Array.from({ length: files }, () => 0);

/** Twenty lines, of which each version of a file changes one. */
function text(i) {
  const version = versions[i];
  return Array.from({ length: 20 }, (_, line) => `line ${line} of file ${i}, version ${Math.floor((version + 19 - line) / 20)}\n`).join('');
}

const data = (bytes) => `data ${Buffer.byteLength(bytes)}\n${bytes}\n`;

function modify(i) {
  versions[i]++;
  return `M 100644 inline ${path(i)}\n${data(text(i))}`;
}

/** Few files change often, most seldom, as it is in real histories. */
const oneOf = () => Math.floor((random(1000) / 1000) ** 3 * (files - 1));

function commit(number, branch, from, changes) {
  const who = `${authors[random(authors.length)]} ${1_500_000_000 + number * 600} +0200`;
  const parents = from.map((mark, i) => `${i === 0 ? 'from' : 'merge'} :${mark}\n`).join('');
  return `commit refs/heads/${branch}\nmark :${number}\nauthor ${who}\ncommitter ${who}\n${data(`Change ${number}\n\nWhat it is about, in a sentence or two.\n`)}${parents}${changes}`;
}

async function put(chunk) {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
}

await put(commit(1, 'main', [], Array.from({ length: files }, (_, i) => modify(i)).join('')));
let tip = 1;
for (let number = 2; number <= commits; number++) {
  if (number % 20 === 0) {
    // A commit on a branch of its own, and its merge, which changes nothing else.
    const side = oneOf();
    const change = modify(side);
    await put(commit(number, 'side', [tip], change));
    await put(commit(number + 1, 'main', [tip, number], change));
    tip = ++number;
    continue;
  }
  const changed = new Set(Array.from({ length: 1 + random(3) }, oneOf));
  await put(commit(number, 'main', [tip], [...changed].map(modify).join('')));
  tip = number;
}
await put('done\n');
