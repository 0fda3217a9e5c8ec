/** Polling expectations: a test waits for what a person would see, or for a state that can be asked for, and never sleeps for a fixed time. */

/** Only so that nothing hangs: a busy machine may need most of it, and what passes or fails never depends on it. */
export const patience = 90_000;
/** Of one test: several waits, and a machine that has other things to do. */
export const testTime = 4 * patience;
const pause = 50;

/**
 * Waits until `probe` answers something truthy, and answers that. An error counts as "not yet". It is asked again and
 * again, so it looks and does not act: what presses a key or sends something stands before it.
 * @template T
 * @param {string} what said when it never happens
 * @param {() => T | Promise<T>} probe
 * @param {number} [within] milliseconds
 * @returns {Promise<Exclude<NonNullable<T>, false | 0 | ''>>}
 */
export async function eventually(what, probe, within = patience) {
  const deadline = Date.now() + within;
  let last = 'nothing';
  for (;;) {
    try {
      const answer = await probe();
      if (answer) return /** @type {Exclude<NonNullable<T>, false | 0 | ''>} */ (answer);
      last = String(answer);
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > deadline) throw new Error(`never happened within ${within} ms: ${what} (last: ${last})`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * Watches that `probe` stays truthy for a while: for what must *not* happen, where no later event can be waited for. It
 * can only miss what comes too late, and says so in a comment where it is used.
 * @param {string} what
 * @param {() => unknown} probe
 * @param {number} during milliseconds
 */
export async function steadily(what, probe, during) {
  const deadline = Date.now() + during;
  while (Date.now() < deadline) {
    if (!(await probe())) throw new Error(`did not stay so for ${during} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
