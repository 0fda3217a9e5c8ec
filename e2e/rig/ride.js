/**
 * One test in a sandbox. Whatever happens, everything is closed, what is left running fails the test, and a failure
 * leaves what helps to understand it. Which editor it is in is the caller's.
 */
import { test } from 'node:test';
import { patience, testTime } from './expect.js';
import { Sandbox } from './sandbox.js';

/** @typedef {import('node:test').TestContext} TestContext */
/** @typedef {{keep: (name: string) => Promise<void>, close: () => Promise<void>}} Closing `keep`: leaves what is looked at after a
 * failure, under this name, which no other run has */

/**
 * @template {Closing} Ride
 * @param {string} name
 * @param {{files: Record<string, string | Buffer>, timeout?: number, sit: (sandbox: Sandbox) => Ride | Promise<Ride>,
 *   shared?: () => import('./sandbox.js').Shared | undefined}} options `sit`: what there is to close when the body is through
 * @param {(ride: Ride, t: TestContext) => Promise<void>} body
 */
export function inSandbox(name, { files, timeout = testTime, sit, shared }, body) {
  test(name, { timeout: timeout + 3 * patience }, async (t) => {
    const sandbox = Sandbox.create(files, shared?.());
    /** @type {unknown} */
    let failure;
    const failed = (/** @type {unknown} */ error) => { failure ??= error; }; // what failed first says more
    /** @type {Ride | undefined} */
    let it;
    try {
      it = await sit(sandbox);
      await within(timeout, body(it, t));
    } catch (error) {
      failed(error);
      await it?.keep(`${moment()} ${name}`).catch((problem) => t.diagnostic(`nothing could be kept: ${problem}`));
    }
    await it?.close().catch(failed);
    await sandbox.dispose().catch(failed);
    if (failure) throw failure;
  });
}

/** A test that hangs fails as any other does, and leaves as much. @param {number} time milliseconds @param {Promise<void>} body */
async function within(time, body) {
  /** @type {NodeJS.Timeout | undefined} */
  let late;
  const hangs = new Promise((_, reject) => { late = setTimeout(() => reject(new Error(`it hangs: not through after ${time} ms`)), time); });
  try {
    await Promise.race([body, hangs]);
  } finally {
    clearTimeout(late);
  }
}

/** When it failed, to a second. */
function moment() {
  return new Date().toISOString().replace(/\..*/, '').replaceAll(':', '');
}
