/** Claude Code and Codex, the real programs, through a real VS Code. What an agent does comes to every editor by the same way, so that all five are tried in Neovim. */
import { agentCases } from '../rig/cases.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

agentCases(ride, undefined, ['claude', 'codex']);
