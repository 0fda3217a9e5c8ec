/** `pillion watch` where there is no terminal: its page in a real Chromium, as a person sees and uses it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { Agent } from '../rig/agent.js';
import { browser } from '../rig/browser.js';
import { eventually, patience } from '../rig/expect.js';
import { edit, edited, files, greeting } from '../rig/greeting.js';
import { artifacts, pillion } from '../rig/places.js';
import { inSandbox } from '../rig/ride.js';

/** One for all: each test has a window of its own in it. */
const chromium = await browser();
after(() => chromium.close());

class Page {
  /** @param {import('../rig/sandbox.js').Sandbox} sandbox @param {import('node:child_process').ChildProcess} program
   * @param {import('playwright-core').Page} tab @param {Agent} agent */
  constructor(sandbox, program, tab, agent) {
    this.sandbox = sandbox;
    this.program = program;
    this.tab = tab;
    this.agent = agent;
    this.stopped = false;
    /** @type {string[]} */
    this.complaints = [];
    tab.on('console', (message) => { if (message.type() === 'error') this.complaints.push(message.text()); });
    tab.on('pageerror', (error) => this.complaints.push(String(error)));
  }

  /** @param {import('../rig/sandbox.js').Sandbox} sandbox */
  static async open(sandbox) {
    const program = spawn(pillion(), ['watch'], { cwd: sandbox.project, env: sandbox.env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    program.stdout.on('data', (data) => (said += data));
    const address = await eventually('the address is printed', () => /http:\S+/.exec(said)?.[0]);
    const tab = await chromium.newPage({ viewport: { width: 1000, height: 760 } });
    tab.setDefaultTimeout(patience);
    const it = new Page(sandbox, program, tab, await Agent.start(sandbox));
    await tab.goto(address);
    await tab.getByText('No request is open').waitFor();
    return it;
  }

  /** The card of a request. @param {string | RegExp} about */
  card(about) {
    return this.tab.locator('article').filter({ hasText: about });
  }

  /** @param {string} name */
  async keep(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    await this.tab.screenshot({ path: path.join(artifacts, `${name.replace(/\W+/g, '-').slice(0, 60)}.png`), fullPage: true });
  }

  /** Pictures by day, by night and in a narrow window. @param {string} name */
  async pictures(name) {
    await eventually('the buttons work', () => this.tab.getByRole('button').first().isEnabled());
    await this.keep(`${name}-light`);
    await this.tab.emulateMedia({ colorScheme: 'dark' });
    await this.keep(`${name}-dark`);
    await this.tab.setViewportSize({ width: 360, height: 700 });
    await this.keep(`${name}-narrow`);
    const { scroll, width } = await this.tab.evaluate(() => ({ scroll: document.documentElement.scrollWidth, width: innerWidth }));
    assert.ok(scroll <= width, `the page is ${scroll} wide in a window of ${width}`);
    await this.tab.emulateMedia({ colorScheme: 'light' });
    await this.tab.setViewportSize({ width: 1000, height: 760 });
  }

  /** Ctrl+C. */
  stop() {
    this.stopped = true;
    this.program.kill('SIGINT');
  }

  async close() {
    await this.agent.close();
    await this.tab.close();
    if (!this.stopped) this.stop();
    await eventually('the watch has ended', () => this.program.exitCode !== null);
    assert.equal(this.program.exitCode, 0);
    assert.deepEqual(this.complaints.filter((text) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE/.test(text)), []);
  }
}

/** @param {string} name @param {(it: Page) => Promise<void>} body */
function onPage(name, body) {
  inSandbox(name, { files, sit: Page.open }, body);
}

onPage('watch page: an edit shows its diff, a reload answers nothing, and a click makes it', async (it) => {
  const call = it.agent.call('edit_file', edit);
  const card = it.card('scripted-agent asks: Edit greet.py');
  await card.waitFor();
  assert.match(await card.innerText(), /-\s+return "Hello " \+ name\s+\+\s+return f"Hello, \{name\}!"/);
  assert.match(await card.innerText(), /edit_file\(greet\.py\)/);
  assert.equal(await it.tab.title(), '(1) Pillion');
  await it.pictures('watch-page-edit');
  await it.tab.reload();
  await card.waitFor();
  assert.equal(it.sandbox.read('greet.py'), greeting);
  await it.tab.keyboard.press('Enter');
  await it.tab.keyboard.press('Space');
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  assert.equal((await call).isError, false);
  assert.equal(it.sandbox.read('greet.py'), edited);
  await card.waitFor({ state: 'detached' });
  await it.tab.getByText('✓ scripted-agent edit_file').waitFor();
});

onPage('watch page: a command with its parts, refused with a reason; a question; cancel and resume', async (it) => {
  let call = it.agent.call('run_command', { command: 'mkdir -p out && touch "out/a b" > log.txt' });
  let card = it.card('asks: Run mkdir');
  await card.waitFor();
  assert.match(await card.innerText(), /Writes\s+log\.txt/);
  await it.pictures('watch-page-command');
  await card.getByLabel('Reason').fill('not <b>now</b>');
  await card.getByLabel('Reason').press('Enter');
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  assert.match((await call).text, /USER_REJECTED.*not <b>now<\/b>/s);
  assert.equal(it.sandbox.exists('out'), false);

  call = it.agent.call('prompt_user', { message: 'Which <i>tea</i>?\nGreen is out.', actions: ['green', 'black'] });
  card = it.card('Which <i>tea</i>?');
  await card.getByRole('heading', { name: 'scripted-agent asks, in its own words:' }).waitFor();
  await card.getByRole('button', { name: 'black' }).click();
  assert.match((await call).text, /black/);

  call = it.agent.call('edit_file', edit);
  await it.card('Edit greet.py').getByRole('button', { name: 'Stop Agent' }).click();
  assert.match((await call).text, /CANCELLED/);
  await it.tab.getByText('Stopped until you resume: scripted-agent').waitFor();
  assert.match((await it.agent.call('read_file', { path: 'greet.py' })).text, /paused/);
  await it.keep('watch-page-paused');
  await it.tab.getByRole('button', { name: 'Resume' }).click();
  await it.tab.getByText('scripted-agent goes on').waitFor();
  assert.match((await it.agent.call('read_file', { path: 'greet.py' })).text, /Hello/);
});

onPage('watch page: what changed beneath the reader is shown anew, and no button works for half a second', async (it) => {
  const { clock } = it.tab;
  await clock.install();
  await it.tab.reload();
  await it.tab.getByText('No request is open').waitFor();
  await clock.pauseAt(Date.now() + 3_600_000); // from now on the page's clock is turned here
  const call = it.agent.call('edit_file', edit);
  const card = it.card('Edit greet.py');
  const approve = card.getByRole('button', { name: 'Approve', exact: true });
  await card.waitFor();
  await clock.runFor(400);
  assert.equal(await approve.isDisabled(), true);
  await clock.runFor(200);
  assert.equal(await approve.isEnabled(), true);
  await card.getByLabel('Reason').fill('kept');
  it.sandbox.write('greet.py', greeting.replace('def greet(name)', 'def greet(name, *others)').replace('return', 'return  '));
  await card.getByText('has changed since you were asked').waitFor();
  await clock.runFor(400);
  assert.equal(await approve.isDisabled(), true);
  assert.equal(await card.getByLabel('Reason').inputValue(), 'kept');
  assert.match(await card.innerText(), /\*others/);
  await clock.runFor(200);
  await approve.click();
  assert.equal((await call).isError, false);
  assert.match(it.sandbox.read('greet.py'), /\*others[^]*f"Hello/);
});

onPage('watch page: what is withdrawn goes, and a watch that ends says so', async (it) => {
  const ended = new AbortController();
  it.agent.call('edit_file', edit, { signal: ended.signal });
  const card = it.card('Edit greet.py');
  await card.waitFor();
  ended.abort();
  await card.waitFor({ state: 'detached' });
  await it.tab.getByText('no longer waits for an answer').waitFor();
  const call = it.agent.call('edit_file', edit);
  await card.waitFor();
  it.stop();
  assert.match((await call).text, /APPROVAL_UNAVAILABLE/);
  await it.tab.getByText('Pillion watch has ended').waitFor();
  assert.equal(await it.tab.getByRole('button').count(), 0);
  assert.equal(it.sandbox.read('greet.py'), greeting);
});

onPage('watch page: right-to-left letters turn no arrow around', async (it) => {
  const call = it.agent.call('run_command', { command: 'cat א > ב' });
  const card = it.card('asks: Run cat');
  await card.waitFor();
  const places = await card.locator('pre.command').evaluate((pre) => ['א', '>', 'ב'].map((letter) => {
    const range = document.createRange();
    const at = pre.textContent?.indexOf(letter) ?? 0;
    range.setStart(/** @type {Node} */ (pre.firstChild), at);
    range.setEnd(/** @type {Node} */ (pre.firstChild), at + 1);
    return range.getBoundingClientRect().left;
  }));
  assert.deepEqual(places, places.toSorted((a, b) => a - b));
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  await call;
});
