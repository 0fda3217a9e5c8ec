/**
 * The real Neovim with a person's hands and eyes: keys go in by `nvim_input`, what is seen comes from the grid that it
 * draws. Neovim's state is asked for only where a person would look it up as well (which text a buffer has, is it saved).
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { artifacts, part, pillion, tree } from '../rig/places.js';
import { eventually, patience } from '../rig/expect.js';
import { Dialog } from './dialog.js';
import { Rpc } from './rpc.js';
import { Screen } from './screen.js';

/** What a user writes who has the plugin in a folder: nothing but its place. */
const plainConfiguration = `vim.opt.rtp:prepend(${JSON.stringify(path.join(tree, 'nvim-plugin'))})\n`;

/** Looking for Python's module takes a second, once a Neovim. */
const quick = 'vim.g.loaded_python3_provider = 0\n';

/** For what a failure leaves: every message between the plugin and its sidecar, in a file beside Neovim's own logs. */
const traced = `vim.api.nvim_create_autocmd('User', { pattern = 'PillionState', once = true, callback = function()
  vim.fn.mkdir(vim.fn.stdpath('state'), 'p')
  local rpc, file = require('pillion.rpc'), assert(io.open(vim.fn.stdpath('state') .. '/wire-' .. vim.fn.getpid() .. '.log', 'a'))
  local start = rpc.start
  rpc.start = function(command, options, handlers)
    local trace = handlers.trace
    handlers.trace = function(direction, body)
      file:write(('%.3f %s: %s\\n'):format(vim.uv.hrtime() / 1e9, direction, body:sub(1, 4000)))
      file:flush()
      return trace(direction, body)
    end
    return start(command, options, handlers)
  end
end })\n`;

/** @typedef {{init?: string, setup?: string, args?: string[], columns?: number, lines?: number, plugin?: boolean, within?: (sandbox: import('../rig/sandbox.js').Sandbox) => string[]}} Options
 * `init` is Lua of the user's own that stands before the plugin's line, `setup` what stands after it. `within`: a command
 * that runs the one behind it, which is Neovim's. */

/** What this process's tests have left to make pictures of: other test files run beside it. @type {string[]} */
export const pages = [];

export class Neovim {
  screen = new Screen();
  #child;
  #rpc;
  #rounds = 0;
  /** What it wrote on stderr. */
  stderr = '';

  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    this.#child = child;
    this.#rpc = new Rpc(child, (method, args) => { if (method === 'redraw') this.screen.redraw(args); });
    child.stderr?.on('data', (data) => (this.stderr += data));
  }

  /** Starts it in the project, with the configuration in the sandbox's home. @param {import('../rig/sandbox.js').Sandbox} sandbox @param {Options} [options] */
  static async start(sandbox, { init = '', setup = '', args = [], columns = 120, lines = 36, plugin = true, within } = {}) {
    const config = path.join(sandbox.home, '.config/nvim');
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, 'init.lua'), quick + init + (plugin ? traced + plainConfiguration : '') + setup);
    const [command, ...rest] = [...(within?.(sandbox) ?? []), program(), '--embed', ...args];
    const child = spawn(command, rest, {
      cwd: sandbox.project, env: environment(sandbox), stdio: ['pipe', 'pipe', 'pipe'],
    });
    const nvim = new Neovim(child);
    // Until a user interface is there, Neovim reads no configuration.
    await nvim.#rpc.request('nvim_ui_attach', columns, lines, { rgb: true, ext_linegrid: true });
    return nvim;
  }

  /** Presses keys, in Neovim's notation: `<Esc>`, `<C-w>`. @param {string} keys */
  async press(keys) {
    for (let rest = Buffer.from(keys); rest.length > 0;) {
      rest = rest.subarray(await this.#rpc.request('nvim_input', rest.toString()));
    }
  }

  /** Types text as it stands. @param {string} text */
  async type(text) {
    await this.press(text.replaceAll('<', '<LT>').replaceAll('\n', '<CR>'));
  }

  /** Types a command line, and waits until it was taken. @param {string} line */
  async command(line) {
    const number = `return vim.fn.histnr(':')`;
    const before = await this.lua(number);
    await this.press('<C-Bslash><C-n>');
    await this.type(`:${line}\n`);
    let taken = false;
    /** @type {Promise<void> | undefined} not answered while the command asks something */
    let asked;
    await eventually(`:${line} is taken`, async () => {
      if (taken || !this.running || (await this.mode()).blocking) return true;
      asked ??= this.lua(number).then((now) => { taken = now > before; }, () => undefined).then(() => { asked = undefined; });
      await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 50))]);
      return taken;
    });
  }

  /** Opens a file of the project. @param {string} name */
  async open(name) {
    await this.command(`edit ${name}`);
    await eventually(`${name} is open`, async () => (await this.file()) === name);
  }

  /** Runs Lua in Neovim and answers what it returns: for looking, not for acting. @param {string} code @param {...unknown} args */
  async lua(code, ...args) {
    return this.#rpc.request('nvim_exec_lua', code, args);
  }

  /** What the API function answers. @param {string} method @param {...unknown} args */
  async api(method, ...args) {
    return this.#rpc.request(method, ...args);
  }

  /** The mode in which keys are taken, and whether a question of Neovim's own holds everything up. @returns {Promise<{mode: string, blocking: boolean}>} */
  async mode() {
    return this.#rpc.request('nvim_get_mode');
  }

  /** The current buffer's file, relative to the project. @returns {Promise<string>} */
  async file() {
    return this.lua(`return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':.')`);
  }

  /** The lines of a loaded buffer, by its file's name; the current one's without. @param {string} [name] @returns {Promise<string[]>} */
  async lines(name) {
    return this.lua(`return vim.api.nvim_buf_get_lines(${bufferOf}, 0, -1, false)`, name);
  }

  /** Unsaved changes? @param {string} [name] @returns {Promise<boolean>} */
  async modified(name) {
    return this.lua(`return vim.bo[${bufferOf}].modified`, name);
  }

  /** Names of the tabs' current buffers. @returns {Promise<string[]>} */
  async tabs() {
    return this.lua(`return vim.tbl_map(function(tab)
      return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(vim.api.nvim_tabpage_get_win(tab))), ':t')
    end, vim.api.nvim_list_tabpages())`);
  }

  /** The cursor: buffer, line (from 1) and column (from 0). */
  async cursor() {
    const [line, column] = await this.api('nvim_win_get_cursor', 0);
    return { file: await this.file(), line, column };
  }

  /** What \`:messages\` would show. @returns {Promise<string>} */
  async messages() {
    return (await this.api('nvim_exec2', 'messages', { output: true })).output;
  }

  /** The question about this (a file, a command), as soon as it waits; it may have no tab yet. @param {string} subject */
  async dialog(subject) {
    const id = await eventually(`a question about ${subject}`, () => this.lua(`
      for _, approval in ipairs(require('pillion.approvals').all()) do
        if approval.request.preview.deed:find(..., 1, true) then return approval.id end
      end`, subject));
    return new Dialog(this, id);
  }

  /** How many questions wait. @returns {Promise<number>} */
  async waits() {
    return this.lua(`return require('pillion').status().waiting`);
  }

  /** Opens the list of what waits and what happened: Neovim's own, which asks for a number. */
  async picker() {
    await this.command('Pillion');
    await this.sees(/Type number and <Enter>/);
  }

  /** Leaves that list without choosing. */
  async leavePicker() {
    await this.press('<Esc>');
    await eventually('the list is gone', async () => !(await this.mode()).blocking);
  }

  /** Chooses a row of the list that is on the screen. @param {RegExp} row */
  async choose(row) {
    await this.sees(/Type number and <Enter>/);
    const number = await eventually(`the list has a row ${row}`, () => this.screen.lines.filter((line) => row.test(line))
      .map((line) => /^\s*(\d+): /.exec(line)?.[1]).find(Boolean));
    await this.type(`${number}\n`);
  }

  /** Opens the list and chooses a row. @param {RegExp} row */
  async pick(row) {
    await this.picker();
    await this.choose(row);
  }

  /**
   * Waits until the request (or the page of several) under the cursor takes an answer. In the first half second after it came
   * into sight, or changed, none is taken: the plugin's clock is turned, rather than that waited for.
   * @param {string} [id] of the request; any without
   */
  async takesAnswers(id) {
    await eventually('what is in front takes an answer', () => this.lua(`
      local front, together = require('pillion.front'), require('pillion.together')
      local Approval = require('pillion.approval')
      local one = require('pillion.approvals').get(front.focused())
      if one and ... ~= nil and one.id ~= ... or not one and (... ~= nil or not together.in_front()) then
        return false
      elseif one and one:is_armed() and front.takes_keys() or not one and together.is_armed() then
        return true
      end
      local now = Approval.now
      Approval.now = function() return now() + Approval.inert_ms end`, ...(id ? [id] : [])));
  }

  /** Presses a key that answers what is in front, once that takes answers. @param {string} keys */
  async answers(keys) {
    await this.takesAnswers();
    await this.press(keys);
  }

  /** Looks at what a revert would do, and says yes with a key. @param {string | RegExp} what stands there */
  async revert(what) {
    await this.sees('Preview  ga revert');
    await this.sees(what);
    await this.answers('ga');
    await eventually('the page has taken the answer', () => !/ Preview {2}ga revert/.test(this.screen.text));
  }

  /**
   * Waits until Neovim has done all that it had to do when this was called, and what that has left to be done, and has drawn it:
   * what has not happened by then, of what had come by now, does not.
   */
  async settled() {
    const round = `ride_${++this.#rounds}`;
    await this.lua(`local name, left = (...), 3
      local function step()
        left = left - 1
        if left > 0 then vim.schedule(step) else vim.g[name] = true end
      end
      vim.schedule(step)`, round);
    await eventually('all is done that was scheduled', () => this.lua('return vim.g[...] == true', round));
    await this.lua('vim.cmd.redraw()');
  }

  /**
   * The same where Neovim waits for a key, and runs nothing that is scheduled: it has read what had come by now. It reads
   * everything in rounds, and has answered in later ones.
   */
  async hasRead() {
    for (let round = 0; round < 3; round++) await this.mode();
  }

  /** The sidecar's own words, and what happened to it. @returns {Promise<string[]>} */
  async log() {
    return this.lua(`return require('pillion.client').log()`);
  }

  /** The terminal window gets or loses the focus. @param {boolean} gained */
  async focus(gained) {
    await this.api('nvim_ui_set_focus', gained);
  }

  /** What the component for a status line says. @returns {Promise<string>} */
  async status() {
    return this.lua(`return require('pillion').statusline()`);
  }

  /** Waits until the sidecar is there. */
  async ready() {
    await eventually('the status line says that Pillion is ready', async () => /Pillion/.test(await this.status()) && (await this.lua(
      `return #vim.lsp.get_clients({name = 'pillion'}) > 0 and vim.lsp.get_clients({name = 'pillion'})[1].initialized == true`)));
  }

  /** Waits until the screen shows this. @param {string | RegExp} what @param {number} [within] */
  async sees(what, within = patience) {
    await eventually(`the screen shows ${what}`, () => {
      const found = typeof what === 'string' ? this.screen.text.includes(what) : what.test(this.screen.text);
      if (!found) throw new Error(`it shows\n${this.screen.text}`);
      return true;
    }, within);
  }

  /** Keeps the screen as a page; the pictures are made of them when the tests are through. @param {string} name */
  screenshot(name) {
    fs.mkdirSync(artifacts, { recursive: true });
    const page = path.join(artifacts, `nvim-${name}.html`);
    fs.writeFileSync(page, this.screen.html());
    pages.push(page);
  }

  get pid() {
    return this.#child.pid;
  }

  get running() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until it has ended by itself. */
  async ended() {
    await eventually('Neovim has ended', () => !this.running);
  }

  /** Ends it as a terminal that is closed does. */
  async close() {
    if (!this.running) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), patience);
    await gone;
    clearTimeout(late);
  }

  /** Ends it without a chance to say goodbye. */
  async kill() {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}

/** The buffer with the name in the first argument. `bufnr` would take its argument for a pattern. */
const bufferOf = `(function(name)
  if name == nil or name == vim.NIL then return 0 end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':.') == name then return buf end
  end
  error('no buffer ' .. name)
end)(...)`;

/** The pinned Neovim; NVIM_UNDER_TEST names another one, such as your own. */
function program() {
  return process.env.NVIM_UNDER_TEST ?? path.join(part('neovim'), 'bin/nvim');
}

/** The program is found on the PATH, as where a user has installed it. @param {import('../rig/sandbox.js').Sandbox} sandbox */
export function environment(sandbox) {
  return { ...sandbox.env, PATH: `${path.dirname(pillion())}:${sandbox.env.PATH}` };
}
