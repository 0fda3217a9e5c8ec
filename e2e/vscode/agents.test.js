/** Claude Code, Codex, Qwen Code, Gemini CLI and opencode, the real programs, through a real VS Code. */
import { agentCases } from '../rig/cases.js';
import { ride, shareBrowser } from './ride.js';

shareBrowser();

agentCases(ride);
