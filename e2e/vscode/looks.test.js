/** How pages and the status bar look, in a real VS Code: in high contrast. */
import assert from 'node:assert/strict';
import { commandFiles } from '../rig/cases.js';
import { eventually } from '../rig/expect.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

ride('a command in high contrast, dark and light: the words for its answers, and emphasis on what waits', commandFiles, async (it) => {
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
  for (const [theme, drawn, plain] of [['dark', '.hc-black', 'rgb(255, 255, 255)'], ['light', '.hc-light', 'rgb(41, 41, 41)']]) {
    await window.command('workbench.action.toggleLightDarkThemes');
    await window.page.locator(`.monaco-workbench${drawn}`).waitFor();
    await window.rest();
    await window.screenshot(`looks-${theme}-high-contrast`);
    await eventually('what waits has a colour there too', async () => (await colour()) !== plain);
  }
  await dialog.choose('Stop Agent');
  assert.equal((await call).structured.error.code, 'CANCELLED');
  await eventually('the badge and the status bar show that it is paused', async () => /cook paused/.test(await item.innerText()));
}, { settings: { 'workbench.preferredDarkColorTheme': 'Default High Contrast', 'workbench.preferredLightColorTheme': 'Default High Contrast Light' } });
