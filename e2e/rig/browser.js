/** Debian's Chromium: VS Code's window, and what draws pictures of a Neovim screen. */
import { chromium } from 'playwright-core';

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

const options = { executablePath: '/usr/bin/chromium', args: flags };

export function browser() {
  return chromium.launch(options);
}

/** One that keeps what it compiled of a page in this folder: the next window with the page is there sooner.
 * @param {string} folder */
export function rememberingBrowser(folder) {
  return chromium.launchPersistentContext(folder, { ...options, viewport: { width: 1440, height: 900 } });
}
