/** Claude Code, Codex and Qwen Code, the real programs, through a real VS Code. */
import { agentCases } from '../rig/cases.js';
import { ride, shareBrowser } from './ride.js';

shareBrowser();

agentCases(ride);
