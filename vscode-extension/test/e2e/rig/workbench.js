/**
 * A window of VS Code in Chromium, with a person's hands: open a file, type, press a title button, run a command, look
 * at the editor, the view and the status bar. Everything goes through what is on the screen.
 */
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { artifacts } from './places.js';
import { eventually, patience } from './expect.js';

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export function browser() {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
}

/** @typedef {import('playwright-core').Page} Page @typedef {import('playwright-core').Locator} Locator */

export class Workbench {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }

  /** @param {import('playwright-core').Browser} browser @param {string} url */
  static async open(browser, url) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(patience);
    await page.goto(url);
    await page.locator('.monaco-workbench .explorer-folders-view .monaco-list-row').first().waitFor();
    return new Workbench(page);
  }

  /** Opens a file of the project by name and puts the cursor into it. @param {string} name */
  async openFile(name) {
    await this.page.keyboard.press('Control+p');
    await this.#pick(name, name);
    await this.tab(path.basename(name)).waitFor();
    await this.page.locator('.editor-group-container.active .editor-instance .monaco-editor.focused').first().waitFor();
  }

  /** Runs a command from the palette by its title. @param {string} title */
  async command(title) {
    await this.page.keyboard.press('F1');
    await this.#pick(`>${title}`, title);
  }

  /** @param {string} text @param {string} row what the chosen row says */
  async #pick(text, row) {
    const input = this.page.locator('.quick-input-widget .quick-input-box input');
    await input.waitFor();
    await input.fill(text);
    await this.page.locator('.quick-input-widget .monaco-list-row', { hasText: row }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  /** @param {string} text */
  async type(text) {
    await this.page.keyboard.type(text);
  }

  /** @param {string} keys as Playwright names them */
  async press(keys) {
    await this.page.keyboard.press(keys);
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

  /** The text of an editor on the screen, lines from top to bottom. @param {Locator} editor */
  async text(editor) {
    return editor.locator('.view-lines').first().evaluate((lines) => [...lines.querySelectorAll('.view-line')]
      .map((line) => ({ top: parseFloat(/** @type {HTMLElement} */ (line).style.top), text: line.textContent ?? '' }))
      .sort((a, b) => a.top - b.top).map((line) => line.text.replaceAll('\u00a0', ' ').replaceAll('\u200c', '')).join('\n'));
  }

  /** The plain editor (no diff) of the group that shows this tab. @param {string} label */
  editor(label) {
    return this.group(label).locator('.editor-instance .monaco-editor:not(.diff-editor *)').first();
  }

  /** The proposed side of a native diff. @param {string | RegExp} label */
  proposed(label) {
    return this.group(label).locator('.monaco-diff-editor .editor.modified');
  }

  /** The group in which this tab is in front. @param {string | RegExp} label */
  group(label) {
    return this.page.locator('.editor-group-container', { has: this.page.locator('.tab.active', { hasText: label }) });
  }

  /** A title button of the group that shows this tab. @param {string | RegExp} label @param {string | RegExp} button */
  button(label, button) {
    return this.group(label).locator('.title-actions, .editor-actions').getByRole('button', { name: button }).first();
  }

  /** Whole text of the status bar. */
  async status() {
    return (await this.page.locator('.part.statusbar').innerText()).replace(/\s+/g, ' ');
  }

  /** Messages that are on show as notifications. */
  async notifications() {
    return this.page.locator('.notifications-toasts .notification-list-item-message').allInnerTexts();
  }

  /** Saves what is on the screen as a build artefact. @param {string} name */
  async screenshot(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    await this.page.screenshot({ path: path.join(artifacts, `${name}.png`) });
  }

  /** Closes the window without a word to VS Code, as a browser tab is closed. */
  async close() {
    await this.page.close();
  }

  /** @param {string} what @param {() => any} probe */
  async sees(what, probe) {
    return eventually(what, probe);
  }
}
