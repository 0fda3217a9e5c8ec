/** The packaged extension in the real VS Code. */
import { ride, shareEditor } from '../vscode/ride.js';
import { files, reason, second, taken, walk } from './story.js';

shareEditor();

ride('VS Code: a part approved, an edit refused with a reason, a command approved, the turn reverted', files, async (it) => {
  const { window, sandbox } = it;
  const proposal = async () => (await window.dialog(/clock\.py.*proposes/)).drawn();
  await walk(await it.agent(), {
    sandbox,
    takesPart: async () => {
      const dialog = await proposal();
      await window.chooseHunks(dialog);
      await window.tick(second.to);
      await dialog.button('Approve Selected').waitFor();
      await window.screenshot('walk-part');
      await dialog.press('Approve Selected');
      return taken;
    },
    refuses: async () => {
      await (await proposal()).rejectWithReason(reason);
      return reason;
    },
    runs: async () => {
      const dialog = await (await window.dialog('Run a command?')).drawn();
      await window.screenshot('walk-command');
      await dialog.press('Approve');
    },
    reverts: async () => {
      await window.command('Pillion: Revert This Turn…');
      await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'scripted-agent' }).first().click();
      const preview = await (await window.dialog(/now ↔ after the revert/)).drawn('Revert');
      await window.screenshot('walk-revert');
      await preview.press('Revert');
    },
  });
});
