/** `pillion watch` in a real terminal. */
import { inSandbox } from '../rig/ride.js';
import { files, walk } from './story.js';
import { open, person } from './watch.js';

inSandbox('pillion watch: a part approved, an edit refused with a reason, a command approved, the turn reverted', { files, sit: open }, async (it) => {
  await walk(await it.agent(), person(it));
});
