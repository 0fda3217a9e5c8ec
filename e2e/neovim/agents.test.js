/** Claude Code, Codex, Qwen Code, Gemini CLI and opencode, the real programs, through a real Neovim. */
import assert from 'node:assert/strict';
import { agentCases, readCases } from '../rig/cases.js';
import { lines } from '../rig/greeting.js';
import { ride, takePictures } from './ride.js';

takePictures();

/** @type {import('../rig/cases.js').Riding<import('./ride.js').Ride>} */
const onTheFile = (name, files, body) => ride(name, files, body, { opened: 'add.py' });

agentCases(onTheFile, async ({ nvim }, text) => assert.deepEqual(await nvim.lines('add.py'), lines(text)));

readCases(onTheFile);
