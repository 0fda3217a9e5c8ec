/**
 * A window of VS Code in Chromium, with a person's hands: type, press a title button, look at the editor, the view and the
 * status bar. Commands and files are opened through the companion, without a key that VS Code may lose; and no key and no
 * click is given twice unless the page says that the first one reached nothing.
 */
import fs from 'node:fs';
import path from 'node:path';
import { artifacts, tree } from '../rig/places.js';
import { eventually, patience } from '../rig/expect.js';
import { Companion } from './companion.js';

/** @typedef {import('playwright-core').Page} Page @typedef {import('playwright-core').Locator} Locator */

/** With `THEMES=all` a screenshot is taken in each: what the system asks for, and the class that VS Code then draws. The last is the default. */
const themes = /** @type {const} */ ([
  { suffix: '-dark', drawn: 'vs-dark', colorScheme: 'dark', forcedColors: 'none' },
  { suffix: '-hc-dark', drawn: 'hc-black', colorScheme: 'dark', forcedColors: 'active' },
  { suffix: '-hc-light', drawn: 'hc-light', colorScheme: 'light', forcedColors: 'active' },
  { suffix: '', drawn: 'vs', colorScheme: 'light', forcedColors: 'none' },
]);

/** What a person looks for in the palette, and what VS Code knows it by. @type {Map<string, string>} */
const commands = new Map(JSON.parse(fs.readFileSync(path.join(tree, 'vscode-extension/package.json'), 'utf8')).contributes.commands
  .filter((/** @type {{command: string}} */ { command }) => !/(InView|ByKey|approveAs\w+)$/.test(command))
  .map((/** @type {{category: string, title: string, command: string}} */ { category, title, command }) => [`${category}: ${title}`, command]));

export class Workbench {
  /** @param {Page} page @param {string} folder @param {Companion} companion */
  constructor(page, folder, companion) {
    this.page = page;
    this.folder = folder;
    this.companion = companion;
  }

  /** A window that remembers nothing of another. @param {import('playwright-core').BrowserContext} browser
   * @param {import('./code-server.js').CodeServer} server @param {string} folder */
  static async open(browser, server, folder) {
    const page = await browser.newPage();
    page.setDefaultTimeout(patience);
    await (await browser.newCDPSession(page)).send('Storage.clearDataForOrigin', { origin: server.origin, storageTypes: 'cookies,indexeddb,local_storage,service_workers' });
    await page.goto(server.url(folder));
    await page.locator('.monaco-workbench .explorer-folders-view .monaco-list-row').first().waitFor();
    return new Workbench(page, folder, await Companion.meet(server.companion));
  }

  /** Opens a file of the project and puts the cursor into it. @param {string} name */
  async openFile(name) {
    await this.companion.open(path.join(this.folder, name));
    await this.tab(path.basename(name)).waitFor();
    await this.page.locator('.editor-group-container.active .editor-instance .monaco-editor.focused').first().waitFor();
  }

  /** Waits until the last tab is closed, and keys go somewhere again. */
  async hasFocus() {
    await eventually('something has the focus', async () => await this.tab(/./).count() === 0 && this.page.evaluate(() => globalThis.document.activeElement !== globalThis.document.body));
  }

  /** Runs a command of ours by what the palette calls it, or one of VS Code's by its id. How it ends is not waited for: it may ask something. @param {string} title */
  async command(title) {
    const command = title.includes(':') ? commands.get(title) : title;
    if (command === undefined) throw new Error(`no command is called ${title}`);
    await this.companion.begin(command);
  }

  /**
   * Presses something with the mouse. Where VS Code draws it anew in that very moment, the button goes down on one element
   * and up on another: then the press reached nothing, which the page knows, and is given again; not if what it opens is there all the same,
   * which may cover it.
   * @param {Locator} what @param {Parameters<Locator['click']>[0]} [options] @param {() => Promise<boolean>} [isTaken] is there what it opens?
   */
  async click(what, options, isTaken = async () => false) {
    await eventually(`the press reaches ${what}`, async () => {
      if (await isTaken()) return true;
      const element = await what.first().elementHandle();
      await element?.evaluate(expectHit, options?.button === 'right');
      await element?.click({ timeout: patience / 10, ...options }); // what covers it is looked at between two tries
      return element?.evaluate(wasHit);
    });
  }

  /** @param {string} text */
  async type(text) {
    await this.page.keyboard.type(text);
  }

  /** @param {string} keys as Playwright names them */
  async press(keys) {
    await this.page.keyboard.press(keys);
  }

  /** Presses a chord of ours. @param {string} key the second one */
  async chord(key) {
    await this.press('Control+k');
    await this.page.locator('.part.statusbar', { hasText: 'Waiting for second key' }).waitFor();
    await this.press(key);
  }

  /** A tab by a part of its label. @param {string | RegExp} label */
  tab(label) {
    return this.page.locator('.tabs-container .tab', { hasText: label });
  }

  /** Labels of all tabs, those with unsaved changes starred. */
  async tabs() {
    return this.page.locator('.tabs-container .tab').evaluateAll((tabs) => tabs.map((tab) =>
      (tab.classList.contains('dirty') ? '* ' : '') + (tab.querySelector('.tab-label')?.textContent ?? '').trim()));
  }

  /** The place of the file that is in front, as the line above its text says it. @param {string} name */
  async placeOf(name) {
    return (await this.group(name).locator('.breadcrumbs-control .monaco-breadcrumb-item').allInnerTexts()).map((part) => part.trim()).join('/');
  }

  /** The text of an editor on the screen, lines from top to bottom; not the deleted lines that an inline diff shows between them. @param {Locator} editor */
  async text(editor) {
    return editor.locator('.view-lines:not(.line-delete)').first().evaluate((lines) => [...lines.querySelectorAll('.view-line')]
      .map((line) => ({ top: parseFloat(/** @type {HTMLElement} */ (line).style.top), text: line.textContent ?? '' }))
      .sort((a, b) => a.top - b.top).map((line) => line.text.replaceAll('\u00a0', ' ').replaceAll('\u200c', '')).join('\n'));
  }

  /** The plain editor of the group in which this file is in front. @param {string} name */
  editor(name) {
    return this.group(name).locator('.editor-instance > .monaco-editor, .editor-container .monaco-editor').first();
  }

  /** The group in which this tab is in front. @param {string | RegExp} label */
  group(label) {
    return this.page.locator('.editor-group-container', { has: this.page.locator('.tab.active', { hasText: label }) });
  }

  /** The question whose tab is labelled so, once it is on the screen. @param {string | RegExp} label */
  async dialog(label) {
    await this.group(label).waitFor();
    await this.group(label).locator('.view-line').first().waitFor();
    return new Dialog(this, label);
  }

  /** What the Pillion item of the status bar says to a screen reader. */
  async status() {
    return (await this.page.locator('.part.statusbar [id*="pillion.status"]').first().getAttribute('aria-label')) ?? '';
  }

  /** Waits until the sidecar is there. */
  async ready() {
    await eventually('the status bar says that Pillion is ready', async () => (await this.status()).includes('ready'));
  }

  /** Rows of the view “Waiting for You”, which this opens. */
  async waiting() {
    await this.#showView();
    return this.#rows('Waiting for You').allInnerTexts();
  }

  /** Rows of the view “Activity”. */
  async activity() {
    await this.#showView();
    return this.#rows('Activity').allInnerTexts();
  }

  /** Opens the dialog of a row in the view. @param {string | RegExp} row */
  async show(row) {
    await this.openRow(row);
  }

  /** Clicks a row of a view. @param {string | RegExp} row */
  async openRow(row, view = 'Waiting for You') {
    await this.#showView();
    await this.click(this.#rows(view).filter({ hasText: row }));
  }

  /** Presses a button of a row in a view, which comes up under the mouse. @param {string | RegExp} row @param {string} button */
  async pressInView(row, button, view = 'Waiting for You') {
    await this.#showView();
    const item = this.#rows(view).filter({ hasText: row }).first();
    await item.hover();
    await this.click(item.getByRole('button', { name: button }));
  }

  /** Opens the menu of a row in a view, and chooses from it. @param {string | RegExp} row @param {string} entry */
  async chooseInView(row, entry, view = 'Waiting for You') {
    await this.#showView();
    await this.click(this.#rows(view).filter({ hasText: row }), { button: 'right' });
    await this.chooseFromMenu(entry);
  }

  /** Takes an entry of the menu that is open: by key, as a menu takes no press of the mouse in its first moment. @param {string} entry */
  async chooseFromMenu(entry) {
    const chosen = this.page.locator('.monaco-menu .action-item', { hasText: entry }).first();
    await chosen.hover();
    await this.page.locator('.monaco-menu .action-item.focused', { hasText: entry }).waitFor();
    await this.press('Enter');
    await chosen.waitFor({ state: 'hidden' });
  }

  /** Drags a row of a view onto another one. @param {string} row @param {string} target @param {string} view */
  async drag(row, target, view) {
    await this.#rows(view).filter({ hasText: row }).first().hover();
    await this.page.mouse.down();
    const place = await this.#rows(view).filter({ hasText: target }).first().boundingBox();
    if (!place) throw new Error(`no row ${target}`);
    for (const x of [90, 100]) await this.page.mouse.move(place.x + x, place.y + place.height / 2, { steps: 4 });
    await this.page.mouse.up();
  }

  /**
   * Rows of a view that have a box, from top to bottom, each as `☑ text` or `☐ text`.
   */
  async boxes(view = 'Waiting for You') {
    await this.#showView();
    return this.#rows(view).evaluateAll((rows) => rows
      .map((row) => ({ row, top: row.getBoundingClientRect().top, box: row.querySelector('[role=checkbox]') }))
      .filter(({ box }) => box).sort((one, other) => one.top - other.top)
      .map(({ row, box }) => `${box?.getAttribute('aria-checked') === 'true' ? '☑' : '☐'} ${row.querySelector('.monaco-icon-label')?.textContent?.replaceAll('\u00a0', ' ')}`));
  }

  /** Opens the list of hunks from a dialog's title. @param {Dialog} dialog */
  async chooseHunks(dialog) {
    await this.click(dialog.button('Choose Hunks'));
    await this.page.locator('.pane-header', { hasText: 'Waiting for You' }).waitFor();
  }

  /**
   * Presses the box of a row in a view. In the view of requests it waits until the row that a yes is given with says something
   * else: VS Code draws rows anew then, and what is pressed meanwhile it loses.
   * @param {string | RegExp} row
   */
  async tick(row, view = 'Waiting for You') {
    await this.#showView();
    const box = this.#rows(view).filter({ hasText: row }).getByRole('checkbox').first();
    const look = async () => view === 'Waiting for You' ? (await this.waiting()).filter((text) => /^(Approve|Apply|Send to Agent)/.test(text)).join() : box.getAttribute('aria-checked');
    const before = await look();
    await this.click(box);
    await eventually(`the box of ${row} counts`, async () => await look() !== before);
  }

  /** Rows of the view “Processes”, which is there as long as there are any. */
  async processes() {
    await this.#showView();
    return this.#rows('Processes').allInnerTexts();
  }

  /** Rows of the view “Sessions”, which is folded at first. */
  async sessions() {
    return this.#unfolded('Sessions');
  }

  /** Rows of the view “Rules”, likewise. */
  async rules() {
    return this.#unfolded('Rules');
  }

  /** @param {string} view */
  async #unfolded(view) {
    await this.#showView();
    const header = this.page.locator(`.pane-header[aria-label="${view} Section"]`);
    if ((await header.getAttribute('aria-expanded')) === 'false') await this.click(header);
    await this.page.locator(`.pane-header[aria-label="${view} Section"][aria-expanded="true"]`).waitFor();
    return this.#rows(view).allInnerTexts();
  }

  /** Opens the terminal of a process from the view. @param {string | RegExp} row */
  async openProcess(row) {
    await this.#showView();
    await this.click(this.#rows('Processes').filter({ hasText: row }));
  }

  /** @param {string | RegExp} row @param {string} button */
  async pressAtProcess(row, button) {
    await this.#showView();
    const item = this.#rows('Processes').filter({ hasText: row }).first();
    await item.hover();
    await this.click(item.getByRole('button', { name: button }));
  }

  /** What the terminal that is on the screen shows. */
  async terminal() {
    const rows = await this.page.locator('.terminal-wrapper.active .xterm-rows > div').evaluateAll((all) => all.map((row) => row.textContent ?? ''));
    return rows.map((row) => row.replaceAll('\u00a0', ' ').trimEnd()).join('\n').trimEnd();
  }

  async #showView() {
    const header = this.page.locator('.pane-header', { hasText: 'Waiting for You' });
    if (!(await header.isVisible())) await this.companion.run('workbench.view.extension.pillion');
    await header.waitFor();
  }

  /** @param {string} view */
  #rows(view) {
    return this.page.locator('.pane', { has: this.page.locator('.pane-header', { hasText: view }) }).locator('.monaco-list-row');
  }

  /** Rows of the view “Changes”, which is there as long as there are any. */
  async changes() {
    await this.#showView();
    return this.#rows('Changes').allInnerTexts();
  }

  /** Lines of the editor in front that are marked as an agent's, each with how, such as “3 added”. */
  async marks() {
    return this.page.locator('.editor-group-container .editor-instance > .monaco-editor, .editor-group-container .editor-container .monaco-editor').first().evaluate((editor) => {
      const numbers = [...editor.querySelectorAll('.margin-view-overlays > div')]
        .map((row) => ({ top: row.getBoundingClientRect().top, line: row.querySelector('.line-numbers')?.textContent ?? '' }));
      return [...editor.querySelectorAll('.glyph-margin-widgets .cgmr, .margin-view-overlays .cgmr')].flatMap((mark) => {
        const image = getComputedStyle(mark).backgroundImage || getComputedStyle(mark, '::before').backgroundImage;
        const data = /base64,([^"')]+)/.exec(image)?.[1];
        const how = data && /data-kind="(\w+)"|id="(\w+)"/.exec(atob(data));
        const top = mark.getBoundingClientRect().top;
        const line = numbers.find((row) => Math.abs(row.top - top) < 4)?.line;
        return how ? [{ line: Number(line), text: `${line} ${how[1] ?? how[2]}` }] : [];
      }).sort((one, other) => one.line - other.line).map(({ text }) => text);
    });
  }

  /** Puts the focus into an editor without moving the cursor of a person's mouse over its text. @param {string} name */
  async focus(name) {
    await this.tab(name).first().click();
    await this.editor(name).locator('.view-line').first().click();
    await this.group(name).locator('.editor-instance .monaco-editor.focused').first().waitFor();
  }

  /** Waits until the cursor is in the line with this text. @param {string} text */
  async cursorIn(text) {
    const lines = this.page.locator('.editor-group-container.active .monaco-editor.focused');
    await eventually(`the cursor is at ${text}`, async () => {
      const cursor = await lines.locator('.cursors-layer .cursor').first().boundingBox();
      const line = await lines.locator('.view-line', { hasText: text }).first().boundingBox();
      return cursor !== null && line !== null && Math.abs(cursor.y - line.y) < 4;
    });
  }

  /** Opens the menu of a line number. @param {string} name @param {number} line */
  async lineMenu(name, line) {
    await this.editor(name).locator('.line-numbers', { hasText: new RegExp(`^${line}$`) }).first().click({ button: 'right' });
  }

  /** Points at a text in an editor until what it says comes up. @param {string} name @param {string} text */
  async hover(name, text) {
    const line = this.editor(name).locator('.view-line', { hasText: text }).first();
    let step = 0;
    await eventually(`something comes up over ${text}`, async () => {
      await line.hover({ position: { x: 60 + (step++ % 2), y: 8 } }); // the mouse moves on a little: over lines drawn anew it was never seen
      return this.page.locator('.monaco-hover:visible', { hasText: /\S/ }).first().isVisible();
    });
  }

  /** What comes up beside the mouse. */
  async hovered() {
    return (await this.page.locator('.monaco-hover:not(.hidden)').allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
  }

  /** Messages that are on show as notifications. */
  async notifications() {
    return this.page.locator('.notifications-toasts .notification-list-item-message').allInnerTexts();
  }

  /** Takes the mouse to where nothing is, and waits until what it brought up has gone. */
  async rest() {
    await this.page.mouse.move(200, 17);
    await eventually('nothing comes up beside the mouse', async () => (await this.page.locator('.monaco-hover:visible').count()) === 0);
  }

  /** Saves what is on the screen as a build artefact; in each theme, if that is asked for. @param {string} name */
  async screenshot(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    const picture = (/** @type {string} */ suffix) => this.page.screenshot({ path: path.join(artifacts, `${name}${suffix}.png`) });
    await picture('');
    if (process.env.THEMES !== 'all') return;
    for (const { suffix, drawn, ...media } of themes) {
      await this.page.emulateMedia(media);
      await this.page.locator(`.monaco-workbench.${drawn}`).waitFor();
      if (suffix !== '') await picture(suffix);
    }
  }

  /** Closes the window without a word to VS Code, as a browser tab is closed. */
  async close() {
    this.companion.close();
    await this.page.close();
  }
}

/** A proposal in VS Code's diff, or a question on a page, with its title buttons. */
export class Dialog {
  #window;
  #label;

  /** @param {Workbench} window @param {string | RegExp} label */
  constructor(window, label) {
    this.#window = window;
    this.#label = label;
  }

  get tab() {
    return this.#window.tab(this.#label);
  }

  /** The proposed side of the diff, in which the user may type. */
  get proposal() {
    return this.#window.group(this.#label).locator('.monaco-diff-editor .editor.modified');
  }

  get page() {
    return this.#window.group(this.#label).locator('.editor-instance .monaco-editor').first();
  }

  /** Waits until everything of it is drawn, so that a screenshot shows what a person would look at. @param {string} yes its button */
  async drawn(yes = 'Approve') {
    await this.button(yes).waitFor();
    await this.#window.group(this.#label).locator('.view-line span span').filter({ hasText: /\S/ }).last().waitFor();
    return this;
  }

  async proposedText() {
    return this.#window.text(this.proposal);
  }

  /** The dim words beside its first change. */
  async besides() {
    return this.proposal.locator('.view-line span').evaluateAll((spans) => spans.map((span) => getComputedStyle(span, '::after').content).join(' ').replaceAll('\u00a0', ' '));
  }

  async pageText() {
    return this.#window.text(this.page);
  }

  /**
   * In its title, or a link above what it is about. Its name for a screen reader may end in the key: “Approve (Ctrl+K Y)”. *Approve* is the
   * one that approves, whatever it says.
   * @param {string} title
   */
  button(title) {
    const name = new RegExp(`^(${said(title)})( \\(|$)`);
    return this.#window.group(this.#label).locator('.title .editor-actions').getByRole('button', { name }).or(this.link(title)).first();
  }

  /** @param {string | RegExp} title */
  link(title) {
    const name = typeof title === 'string' ? new RegExp(`^\\s*(${said(title)})$`) : title;
    return this.#window.group(this.#label).locator('.codelens-decoration a').filter({ hasText: name });
  }

  /** What the links say, from left to right and from top to bottom. */
  async links() {
    const all = this.#window.group(this.#label).locator('.codelens-decoration a');
    await all.first().waitFor({ state: 'attached' });
    return (await all.allTextContents()).map((text) => text.replaceAll('\u00a0', ' ').trim());
  }

  /** Presses a link as a person does who read the request first. @param {string} title */
  async follow(title) {
    await this.#answers(() => this.#window.click(this.link(title)));
  }

  async isOpen() {
    return (await this.tab.count()) > 0;
  }

  /** Waits until a person has had the time to read it: in its first half second the buttons that answer are grey. */
  async takesAnswers() {
    const buttons = this.#window.group(this.#label).locator('.title .editor-actions').getByRole('button', { name: /^(Reject|Cancel|Leave|Revert|Trust These Rules|Connect)( \(|$)/ });
    await eventually('its buttons are not grey', () => buttons.first().isEnabled());
  }

  /** Gives an answer once it can be given, and waits until what it was given to is gone. @param {() => Promise<void>} how */
  async #answers(how) {
    const label = this.#label;
    const says = (/** @type {string} */ text) => typeof label === 'string' ? text.toLowerCase().includes(label.toLowerCase()) : label.test(text);
    const tabs = async () => this.#window.companion.tabs();
    const answered = await eventually('its tab is in front', async () => (await tabs()).find((tab) => tab.isActive && says(tab.label)));
    const isAnswered = async () => !(await tabs()).some(({ address }) => address === answered.address);
    // A button is grey as soon as VS Code has told its page so, which may be a moment after the request came to the front.
    const tooFast = this.#window.page.locator('.part.statusbar', { hasText: 'too fast, press again' });
    for (;;) {
      await tooFast.waitFor({ state: 'hidden' });
      await this.takesAnswers();
      await how();
      const outcome = await eventually('it is answered, or was too early', async () => await isAnswered() ? 'answered' : await tooFast.isVisible() && 'too fast');
      if (outcome === 'answered') return;
    }
  }

  /** Presses a title button, or a link. @param {string} title */
  async press(title) {
    await this.#answers(() => this.#window.click(this.button(title)));
  }

  /** Puts the cursor into it. */
  async enter() {
    await this.proposal.locator('.view-line').first().click();
  }

  /** Approves by its key, once the cursor is in it. */
  async approveByKey() {
    await this.#window.group(this.#label).locator('.monaco-diff-editor .monaco-editor.focused, .editor-instance > .monaco-editor.focused').first().waitFor();
    await this.#answers(() => this.#window.chord('y'));
  }

  /** Takes an answer from the menu of its title. @param {string} title */
  async choose(title) {
    await this.#answers(async () => {
      await this.#window.click(this.button('More Actions...'));
      await this.#window.chooseFromMenu(title);
    });
  }

  /** @param {string} reason */
  async rejectWithReason(reason) {
    await this.write('Reject with Reason…', reason);
  }

  /** Presses a title button that asks for a line of text, and gives it. @param {string} title @param {string} text */
  async write(title, text) {
    const input = this.#window.page.locator('.quick-input-widget .quick-input-box input');
    await this.#answers(async () => {
      await this.#window.click(this.button(title), undefined, () => input.isVisible());
      await input.fill(text);
      await this.#window.press('Enter');
      await input.waitFor({ state: 'hidden' });
    });
  }

  /** Approves, and picks the rule that reaches so far. @param {string} rule @param {string} scope @param {() => Promise<void>} [looks] at the list */
  async remember(rule, scope, looks) {
    const choice = this.#window.page.locator('.quick-input-widget .monaco-list-row', { hasText: rule }).filter({ hasText: scope });
    await this.#answers(async () => {
      await this.#window.click(this.button('Approve and Remember…'), undefined, () => choice.first().isVisible());
      await choice.first().waitFor();
      await looks?.();
      await this.#window.click(choice);
    });
  }

  /** Closes its tab, which is no answer. */
  async closeTab() {
    await this.#window.click(this.tab.locator('.tab-actions [aria-label^="Close"]'));
    await eventually('its tab is closed', async () => !(await this.isOpen()));
  }
}

/** What a button may say. @param {string} title */
function said(title) {
  return title === 'Approve' ? 'Approve|Run|Commit|Push|Delete|Fetch|Read|Start' : title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** In the page: looks out for the event that makes VS Code act on it, be it on this element or on one that was drawn in its place. @param {Element} element @param {boolean} isRight */
function expectHit(element, isRight) {
  element.removeAttribute('data-hit');
  const mark = (/** @type {EventTarget} */ one) => one instanceof Element ? [one.tagName, one.getAttribute('aria-label'), one.textContent].join('|') : '';
  const left = element.getAttribute('aria-haspopup') === 'true' ? 'mousedown' : element.closest('.codelens-decoration') ? 'mouseup' : 'click';
  const [type, wanted] = [isRight ? 'contextmenu' : left, mark(element)];
  globalThis.addEventListener(type, (event) => {
    if (event.composedPath().some((one) => one === element || mark(one) === wanted)) element.setAttribute('data-hit', '');
  }, { capture: true, once: true });
}

/** @param {Element} element */
function wasHit(element) {
  return element.hasAttribute('data-hit');
}
