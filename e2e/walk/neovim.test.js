/** The plugin in the real Neovim. */
import { ride } from '../neovim/ride.js';
import { files, reason, taken, walk } from './story.js';

ride('Neovim: a part approved, an edit refused with a reason, a command approved, the turn reverted', files, async (it) => {
  const { nvim, sandbox } = it;
  await walk(await it.agent(), {
    sandbox,
    takesPart: async () => {
      const dialog = await nvim.dialog('clock.py');
      await dialog.show();
      await nvim.sees('hunk 1 of 3 selected');
      await nvim.press(']h');
      await nvim.sees('hunk 2 of 3 selected');
      await nvim.press('gh');
      await nvim.sees('ga approve 2 of 3');
      nvim.screenshot('walk-part');
      await dialog.press('approve');
      return taken;
    },
    refuses: async () => {
      await (await nvim.dialog('clock.py')).answer(`reject ${reason}`);
      return reason;
    },
    runs: async () => (await nvim.dialog('sh test.sh')).answer('approve'),
    reverts: async () => {
      await nvim.command('Pillion revert turn');
      await nvim.revert(/Revert [^]*clock\.py/);
    },
  });
}, { opened: 'clock.py', columns: 160 });
