/**
 * A question in Neovim: a proposal as a diff in its own tab, or a page. A person goes to its tab, reads it, edits the
 * proposed side, and answers with `:Pillion …` or with a key there.
 */
import { eventually } from '../rig/expect.js';

/** The window in which something of this question is on the screen: `proposed`, `current`, `question`, `closed`. */
const windowOf = `(function(id, side)
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
      local buffer = vim.api.nvim_win_get_buf(win)
      local ours, rest = vim.b[buffer].pillion_approval == id, vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
      if ours and (not side or vim.startswith(rest, side) or vim.endswith(rest, '(' .. side .. ')')) then return win, tab end
    end
  end
end)`;

export class Dialog {
  #nvim;
  #id;

  /** @param {import('./neovim.js').Neovim} nvim @param {string} id */
  constructor(nvim, id) {
    this.#nvim = nvim;
    this.#id = id;
  }

  /** Does it wait for an answer? @returns {Promise<boolean>} */
  async isOpen() {
    return this.#nvim.lua(`return require('pillion.approvals').get(...) ~= nil`, this.#id);
  }

  /** Has it a tab? @returns {Promise<boolean>} */
  async isShown() {
    return this.#nvim.lua(`return ${windowOf}(...) ~= nil`, this.#id);
  }

  /** Goes to its tab; a question that has none yet is looked up, one after the other. */
  async show() {
    await this.#nvim.press('<C-Bslash><C-n>');
    let gone = 0; // the tab that the user is on the way to
    await eventually('its tab is in front', async () => {
      const [place, current] = await this.#nvim.lua(`
        local _, tab = ${windowOf}(...)
        return { tab and vim.api.nvim_tabpage_get_number(tab) or false, vim.api.nvim_tabpage_get_number(0) }`, this.#id);
      if (place === current) return true;
      if (!place) await this.#nvim.command('Pillion next');
      else if (place !== gone) await this.#nvim.press(`${gone = place}gt`);
      return false;
    });
  }

  /** Puts the cursor into the proposed side. */
  async enterProposal() {
    await this.show();
    await this.#nvim.press('<C-w>l');
    await eventually('the cursor is in the proposal', () => this.#nvim.lua(
      `return vim.api.nvim_get_current_win() == (${windowOf}(...))`, this.#id, 'proposed'));
  }

  /** The proposed side, line by line. @returns {Promise<string[]>} */
  async proposedText() {
    return this.#side('proposed');
  }

  /** The page that has taken its place when it died. @returns {Promise<string[]>} */
  async closedText() {
    return this.#side('closed');
  }

  /** @param {string} side @returns {Promise<string[]>} */
  async #side(side) {
    return this.#nvim.lua(`return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf((${windowOf}(...))), 0, -1, false)`, this.#id, side);
  }

  /** Waits until the sidecar says that the text beneath it has changed. */
  async changes() {
    await eventually('the dialog says that the text beneath it changed', () => this.#nvim.lua(
      `return require('pillion.approvals').get(...).beneath ~= 'unchanged'`, this.#id));
  }

  /**
   * Answers as a person does who read the question first: within the first half second no answer is taken.
   * @param {string} words after `:Pillion`
   */
  async answer(words) {
    await this.#says(() => this.#nvim.command(`Pillion ${words}`));
  }

  /** Answers with the key that is bound to this in the question's own buffers. @param {string} action */
  async press(action) {
    const key = await this.#nvim.lua(`return require('pillion.config').current.keys[...]`, action);
    await this.#says(() => this.#nvim.press(key));
  }

  /** Approves and lets the rule that is shown be remembered. @param {RegExp} rule */
  async answerForSession(rule) {
    await this.#remember('session', rule);
  }

  /** The same until the agent's turn ends. @param {RegExp} rule */
  async answerForTurn(rule) {
    await this.#remember('turn', rule);
  }

  /** The same for every session in this folder. @param {RegExp} rule */
  async answerForWorkspace(rule) {
    await this.#remember('workspace', rule);
  }

  /** @param {string} words @param {RegExp} rule */
  async #remember(words, rule) {
    await this.#says(async () => {
      await this.#nvim.command(`Pillion ${words}`);
      await this.#nvim.choose(rule);
    });
  }

  /** Waits until it is in front and takes answers, and says this once; again only where it is known to have changed meanwhile.
   * @param {() => Promise<void>} say */
  async #says(say) {
    // When it begins to take answers: another time each time that it changes. Nothing once it is answered.
    const since = () => this.#nvim.lua(`local one = require('pillion.approvals').get(...); return one and one.armed_at`, this.#id);
    for (;;) {
      await this.show();
      await this.#nvim.takesAnswers(this.#id);
      const before = await since();
      await say();
      await eventually('the answer is taken', async () => (await since()) !== before);
      if (!(await this.isOpen())) return;
    }
  }
}
