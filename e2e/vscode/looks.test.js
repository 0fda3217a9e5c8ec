/** How pages and the status bar look, in a real VS Code: in dark high contrast. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('a command in dark high contrast: the words for its answers, and emphasis on what waits', commandFiles, async (it) => {
  const { window } = it;
  await window.openFile('words.txt');
  const agent = await it.agent('cook');
  const call = agent.call('run_command', { command: 'sh count.sh && curl https://example.org/a' });
  const dialog = await (await window.dialog('Run a command?')).drawn();
  await dialog.button('Run').waitFor();
  const text = await dialog.pageText();
  assert.match(text, /\nRun +once\n/);
  const item = window.page.locator('.part.statusbar [id*="pillion.status"]').first();
  const background = () => item.evaluate((element) => getComputedStyle(element).backgroundColor);
  const colour = () => item.evaluate((element) => getComputedStyle(element.querySelector('a') ?? element).color);
  assert.notEqual(await background(), 'rgba(0, 0, 0, 0)', 'and a background elsewhere');
  for (const theme of ['Dark High Contrast']) {
    const input = window.page.locator('.quick-input-widget .quick-input-box input');
    await window.press('F1');
    await input.fill('>Preferences: Color Theme');
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: /^Preferences: Color Theme/ }).click();
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Browse Additional Color Themes' }).waitFor();
    await input.fill(theme);
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: theme }).first().click();
    await input.waitFor({ state: 'hidden' });
    await window.rest();
    await window.screenshot(`looks-${theme.replaceAll(' ', '-').toLowerCase()}`);
    if (theme === 'Dark High Contrast') await eventually('what waits has a colour there too', async () => (await colour()) !== 'rgb(255, 255, 255)');
  }
  await dialog.choose('Stop Agent');
  assert.equal((await call).structured.error.code, 'CANCELLED');
  await eventually('the badge and the status bar show that it is paused', async () => /cook paused/.test(await item.innerText()));
});
