/** The processes that run with a given HOME, from /proc: one that changed its name or its parent is still found. */
import fs from 'node:fs';

/** @typedef {{pid: number, command: string}} Running */

/** @param {string} home @returns {Running[]} */
export function processesIn(home) {
  const wanted = `HOME=${home}`;
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const environment = fs.readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A zombie has neither.
      return command !== '' && environment.includes(wanted) ? [{ pid: Number(name), command }] : [];
    } catch {
      return []; // it ended while we looked, or belongs to somebody else
    }
  });
}

/** One that has ended meanwhile is as good. @param {number} pid */
export function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}
