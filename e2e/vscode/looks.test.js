/** How pages and the status bar look, in a real VS Code: narrow, dark, light and in high contrast; and in a folder without trust. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('a command in each kind of theme: the words for its answers, and emphasis on what waits', commandFiles, async (it) => {
  const { window } = it;
  await window.openFile('words.txt');
  const agent = await it.agent('cook');
  const call = agent.call('run_command', { command: 'sh count.sh && curl https://example.org/a' });
  const dialog = await (await window.dialog('Run a command?')).drawn();
  assert.equal(await dialog.button('Run').count(), 1);
  assert.equal(await dialog.button('Stop Agent').count(), 1);
  const text = await dialog.pageText();
  assert.match(text, /\nRun +once\n/);
  const item = window.page.locator('.part.statusbar [id*="pillion.status"]').first();
  const look = () => item.evaluate((element) => { const { color, backgroundColor } = getComputedStyle(element.querySelector('a') ?? element); return `${color} ${backgroundColor} ${getComputedStyle(element).backgroundColor}`; });
  const looks = new Set();
  for (const theme of ['Light Modern', 'Dark Modern', 'Dark High Contrast', 'Light High Contrast']) {
    await window.command('Preferences: Color Theme');
    const input = window.page.locator('.quick-input-widget .quick-input-box input');
    await input.fill(theme);
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: theme }).first().click();
    await input.waitFor({ state: 'hidden' });
    await window.rest();
    await window.screenshot(`looks-${theme.replaceAll(' ', '-').toLowerCase()}`);
    looks.add(await look());
    if (theme === 'Dark High Contrast') assert.doesNotMatch(await look(), /^rgb\(255, 255, 255\)/, 'what waits has a colour there too');
  }
  await dialog.press('Stop Agent');
  assert.equal((await call).structured.error.code, 'CANCELLED');
  await eventually('the badge and the status bar show that it is paused', async () => /cook paused/.test(await item.innerText()));
});
