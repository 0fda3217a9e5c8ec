/** Polling expectations: a test waits for what a person would see, up to a deadline, and never sleeps for a fixed time. */

export const patience = 30_000;
const pause = 50;

/**
 * Waits until `probe` answers something truthy, and answers that. An error counts as "not yet".
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
 * Watches that `probe` stays truthy for a while: for what must *not* happen, where no event can be waited for.
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
