/** Claude Code, Codex, Qwen Code, Gemini CLI and opencode, the real programs, through a real VS Code. */
import { agentCases } from '../rig/cases.js';
import { ride, shareEditor } from './ride.js';

shareEditor();

agentCases(ride);
