/** Debian's Chromium: VS Code's window, and what draws pictures of a Neovim screen. */
import { chromium } from 'playwright-core';

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export function browser() {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
}
