/** The website of a release, opened from its folder: every link leads somewhere, and nothing is wider than the window. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser } from '../rig/browser.js';
import { artifacts } from '../rig/places.js';

const site = path.join(artifacts, 'release/site');
const pages = fs.readdirSync(site).filter((name) => name.endsWith('.html'));

test('every link and picture is there', () => {
  const text = new Map(pages.map((name) => [name, fs.readFileSync(path.join(site, name), 'utf8')]));
  const lost = [];
  for (const [page, html] of text) {
    for (const [, target] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^(https?|mailto):/.test(target)) continue;
      const [name, anchor] = target.split('#');
      const there = name === '' || fs.existsSync(path.join(site, name));
      const within = !anchor || text.get(name || page)?.includes(`id="${anchor}"`);
      if (!there || !within) lost.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(lost, []);
});

test('it fits a wide and a narrow window, light and dark', async () => {
  const chromium = await browser();
  try {
    for (const [width, height, colorScheme] of /** @type {[number, number, 'light' | 'dark'][]} */ ([[1440, 900, 'light'], [1440, 900, 'dark'], [390, 844, 'light']])) {
      const page = await chromium.newPage({ viewport: { width, height }, colorScheme });
      for (const name of pages) {
        await page.goto(pathToFileURL(path.join(site, name)).href);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth && [...document.images].every((image) => image.naturalWidth > 0)'), true, `${name} at ${width}`);
        if (['index.html', 'install.html'].includes(name)) await page.screenshot({ path: path.join(artifacts, `site-${name.slice(0, -5)}-${colorScheme}-${width}.png`) });
      }
      await page.close();
    }
  } finally {
    await chromium.close();
  }
});
