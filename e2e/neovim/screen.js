/**
 * What a person sees of a Neovim: the grid of cells that it draws (the UI protocol's line grid), with colours, as text and
 * as a page for a picture. Nothing of Neovim's state is asked for here.
 */

/** @typedef {{text: string, highlight: number}} Cell */
/** @typedef {{foreground?: number, background?: number, special?: number, bold?: boolean, italic?: boolean, underline?: boolean,
 *   undercurl?: boolean, strikethrough?: boolean, reverse?: boolean}} Attributes */

export class Screen {
  /** @type {Cell[][]} */
  #rows = [];
  /** @type {Map<number, Attributes>} */
  #attributes = new Map();
  #foreground = 0xffffff;
  #background = 0x000000;
  #special = 0xff0000;
  cursor = { row: 0, column: 0 };
  /** As the user interface is told: normal, insert, cmdline_normal, … */
  mode = 'normal';
  /** Bells, for tests that expect none. */
  bells = 0;
  /** The text as of the last flush: in between, Neovim is still drawing. */
  #shown = '';

  /** Takes one batch of the `redraw` notification. @param {any[]} events */
  redraw(events) {
    for (const [name, ...calls] of events) {
      const draw = this.#draws[name];
      if (draw) for (const args of calls) draw(...args);
    }
  }

  /** @type {Record<string, (...args: any[]) => void>} */
  #draws = {
    grid_resize: (_, width, height) => { this.#rows = Array.from({ length: height }, () => blank(width)); },
    grid_clear: () => { this.#rows = this.#rows.map((row) => blank(row.length)); },
    grid_line: (_, row, column, cells) => this.#line(row, column, cells),
    grid_scroll: (_, top, bottom, left, right, rows) => this.#scroll(top, bottom, left, right, rows),
    grid_cursor_goto: (_, row, column) => { this.cursor = { row, column }; },
    hl_attr_define: (id, attributes) => { this.#attributes.set(id, attributes); },
    default_colors_set: (foreground, background, special) => {
      [this.#foreground, this.#background, this.#special] = [foreground, background, special];
    },
    mode_change: (mode) => { this.mode = mode; },
    bell: () => { this.bells++; },
    visual_bell: () => { this.bells++; },
    flush: () => { this.#shown = this.#rows.map((row) => row.map((cell) => cell.text).join('').trimEnd()).join('\n'); },
  };

  /** @param {number} row @param {number} column @param {[string, number?, number?][]} cells */
  #line(row, column, cells) {
    let highlight = 0;
    for (const [text, hl = highlight, repeat = 1] of cells) {
      highlight = hl;
      for (let i = 0; i < repeat; i++) this.#rows[row][column++] = { text, highlight };
    }
  }

  /** @param {number} top @param {number} bottom @param {number} left @param {number} right @param {number} by */
  #scroll(top, bottom, left, right, by) {
    const old = this.#rows.map((row) => [...row]);
    for (let row = top; row < bottom; row++) {
      if (row + by >= top && row + by < bottom) this.#rows[row].splice(left, right - left, ...old[row + by].slice(left, right));
    }
  }

  /** All lines, trailing blanks removed. */
  get text() {
    return this.#shown;
  }

  get lines() {
    return this.#shown.split('\n');
  }

  /** A page that looks like the screen. Every run of equal cells stands at its own column, whatever the font does. */
  html() {
    const rows = this.#rows.map((row, y) => runs(row).map((run) => {
      const style = this.#style(run.highlight);
      return `<i style="left:${run.column}ch;top:${y * 1.25}em;width:${run.width}ch;${style}">${escape(run.text)}</i>`;
    }).join('')).join('\n');
    const { row, column } = this.cursor;
    const thin = this.mode.startsWith('insert') || this.mode === 'cmdline_normal';
    const cursor = `<b style="left:${column}ch;top:${row * 1.25}em;width:${thin ? '0.15' : '1'}ch"></b>`;
    const [width, height] = [this.#rows[0]?.length ?? 0, this.#rows.length];
    return `<!doctype html><meta charset="utf-8"><title>Neovim</title><style>
body{margin:0;background:${colour(this.#background)}}
main{position:relative;width:${width}ch;height:${height * 1.25}em;font:15px/1.25 'DejaVu Sans Mono',monospace;color:${colour(this.#foreground)}}
i,b{position:absolute;height:1.25em;white-space:pre;font-style:normal;font-weight:normal;overflow:hidden}
b{background:${colour(this.#foreground)};opacity:.6}
</style><main>${rows}${cursor}</main>`;
  }

  /** @param {number} highlight */
  #style(highlight) {
    const a = this.#attributes.get(highlight) ?? {};
    let [foreground, background] = [a.foreground ?? this.#foreground, a.background ?? this.#background];
    if (a.reverse) [foreground, background] = [background, foreground];
    return [
      `color:${colour(foreground)};background:${colour(background)}`,
      a.bold ? 'font-weight:bold' : '',
      a.italic ? 'font-style:italic' : '',
      a.underline ? 'text-decoration:underline' : '',
      a.undercurl ? `text-decoration:underline wavy ${colour(a.special ?? this.#special)}` : '',
      a.strikethrough ? 'text-decoration:line-through' : '',
    ].filter(Boolean).join(';');
  }
}

/** @param {number} width @returns {Cell[]} */
function blank(width) {
  return Array.from({ length: width }, () => ({ text: ' ', highlight: 0 }));
}

/** Neighbours with one highlight. A wide character's second cell is empty. @param {Cell[]} row */
function runs(row) {
  /** @type {{column: number, width: number, text: string, highlight: number}[]} */
  const found = [];
  row.forEach((cell, column) => {
    const last = found.at(-1);
    // Beyond ASCII a font may be wider or narrower than its cell: such a cell begins a run, so that nothing drifts.
    const alone = /[^\x20-\x7e]/.test(cell.text);
    if (last && last.highlight === cell.highlight && !alone) {
      last.text += cell.text;
      last.width++;
    } else {
      found.push({ column, width: 1, text: cell.text, highlight: cell.highlight });
    }
  });
  return found;
}

/** @param {number} rgb */
function colour(rgb) {
  return `#${Math.max(rgb, 0).toString(16).padStart(6, '0')}`;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
