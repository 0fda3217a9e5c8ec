// Lines of a read-only page and where to paint them. Pure: pages.ts shows them.

import { visible } from "./escape";
import type { Fact } from "./protocol";

export type Paint = "heading" | "code" | "prompt" | "label" | "choice" | "rule" | "warning" | "muted" | "added" | "removed";

/** A painted stretch of one line; `code` and `warning` without an end colour the whole line. */
interface Mark {
  paint: Paint;
  line: number;
  from: number;
  to: number;
}

/** What is drawn in a line, before its character `at`; `url` has the picture's data. */
interface Picture {
  line: number;
  at: number;
  url: string;
}

export interface Page {
  text: string;
  marks: readonly Mark[];
  pictures: readonly Picture[];
  /** On which line something begins that can be gone to. */
  places: ReadonlyMap<string, number>;
  /** On which line a fact stands beside which something can be done. */
  action?: number;
}

/** How many lines a picture takes below its own. */
export const pictureLines = 8;

const diffPaints: Record<string, Paint> = { "+": "added", "-": "removed", "@": "muted" };

const labelWidth = 14;
const answerWidth = 26;
/** In a narrower editor lines wrap, and columns with them: what does not fit beside its label stands below it, set in. */
const pageWidth = 60;

/** Lines under construction, with their paint. */
export class Sheet {
  private readonly lines: string[] = [];
  private readonly marks: Mark[] = [];
  private readonly drawn: Picture[] = [];
  private readonly places = new Map<string, number>();
  private action: number | undefined;

  page(): Page {
    return { text: `${this.lines.join("\n")}\n`, marks: this.marks, pictures: this.drawn, places: this.places, ...(this.action === undefined ? {} : { action: this.action }) };
  }

  gap(): void {
    if (this.lines.at(-1) !== "") {
      this.lines.push("");
    }
  }

  line(text: string, paint?: Paint): void {
    this.lines.push(text);
    if (paint) {
      this.mark(paint, 0, text.length);
    }
  }

  code(lines: readonly string[], first: string, following: string): void {
    lines.forEach((line, index) => {
      const prompt = index === 0 ? first : following;
      this.lines.push(prompt + line);
      this.mark("code", 0, prompt.length + line.length);
      this.mark("prompt", 0, prompt.length);
      this.markUnseen(line, prompt.length);
    });
  }

  /** Markdown laid out: of its marks only those that paint says as well are left out, so nothing in it hides. */
  markdown(lines: readonly string[], setIn: string): void {
    let fenced = false;
    for (const line of lines) {
      const fence = /^\s*(```|~~~)/.test(line);
      const [, title] = /^#{1,6} +(.+)$/.exec(line) ?? [];
      if (fence || fenced) {
        this.line(setIn + line, fence ? "muted" : "code");
        fenced = fence !== fenced;
      } else if (title !== undefined) {
        this.line(setIn + title, "heading");
      } else {
        this.inline(line.replace(/^(\s*)[-*+] /, "$1• "), setIn);
      }
      this.markUnseen(this.lines.at(-1) ?? "", 0);
    }
  }

  private inline(text: string, setIn: string): void {
    this.lines.push(setIn);
    for (const part of text.split(/(`[^`]+`|\*\*[^*]+\*\*)/)) {
      const [, code, bold] = /^(?:`(.+)`|\*\*(.+)\*\*)$/.exec(part) ?? [];
      const [from, line] = [this.lines.at(-1)?.length ?? 0, (this.lines.pop() ?? "") + (code ?? bold ?? part)];
      this.lines.push(line);
      if (code ?? bold) {
        this.mark(code === undefined ? "choice" : "rule", from, line.length);
      }
    }
  }

  /** A unified diff from its first hunk on, at most so many lines of it. */
  diff(text: string, limit: number): void {
    const all = text.replace(/\n$/, "").split("\n");
    const lines = all.slice(Math.max(0, all.findIndex((line) => line.startsWith("@@"))));
    for (const line of lines.slice(0, limit).map(visible)) {
      this.line(`  ${line}`, diffPaints[line[0] ?? ""]);
      this.markUnseen(line, 2);
    }
    if (lines.length > limit) {
      this.line(`  … and ${String(lines.length - limit)} lines more; the diff has them all`, "muted");
    }
  }

  /** A file's two states side by side, on lines that have room for them. */
  pictures({ before, after }: { before?: string; after?: string }): void {
    let text = " ";
    for (const [state, url] of Object.entries({ before, after })) {
      if (url !== undefined) {
        text += ` ${state} `;
        this.drawn.push({ line: this.lines.length, at: text.length, url });
      }
    }
    this.line(text, "label");
    Array.from({ length: pictureLines }).forEach(() => this.line(""));
  }

  /** A diff of several files in git's format, whole; of its headers what the files' names and modes do not say is left out. */
  gitDiff(text: string): void {
    let inHunk = false;
    for (const raw of text.replace(/\n$/, "").split("\n")) {
      inHunk = raw.startsWith("@@") || (inHunk && /^[-+ \\]/.test(raw));
      if (inHunk || !/^(index |--- |\+\+\+ )/.test(raw)) {
        this.line(`  ${visible(raw)}`, inHunk ? diffPaints[raw[0] ?? ""] : "choice");
      }
    }
  }

  /** The next line is gone to by this name. */
  place(name: string): void {
    this.places.set(name, this.lines.length);
  }

  fact({ label, text, items, tone, action }: Omit<Fact, "code">): void {
    this.action = action === undefined ? this.action : this.lines.length;
    const values = items ?? [text];
    const beside = label.length < labelWidth && values.every((value) => labelWidth + value.length <= pageWidth);
    if (!beside && label !== "") {
      this.line(label, "label");
    }
    values.forEach((value, index) => {
      const shown = beside && index === 0 ? label : "";
      const start = beside ? labelWidth : 2;
      this.lines.push(shown.padEnd(start) + value);
      this.mark("label", 0, shown.length);
      if (tone) {
        this.mark(tone, start, start + value.length);
      }
      this.markUnseen(value, start);
    });
  }

  /** A choice and what it means. */
  answer(title: string, meaning: string): void {
    this.columns(title, "choice", meaning, "muted", 2);
  }

  /** What a choice would save, and how far it reaches. */
  rule(scope: string, rule: string): void {
    this.columns(`  ${scope}`, "muted", visible(rule), "rule", 4);
  }

  private columns(left: string, leftPaint: Paint, right: string, rightPaint: Paint, setIn: number): void {
    const beside = answerWidth + right.length <= pageWidth;
    this.line(left, leftPaint);
    const at = beside ? answerWidth : setIn;
    if (beside) {
      this.lines.push((this.lines.pop() ?? "").padEnd(at) + right);
    } else {
      this.lines.push(" ".repeat(at) + right);
    }
    this.mark(rightPaint, at, at + right.length);
  }

  /** What is written out because it could not be seen. */
  private markUnseen(line: string, at: number): void {
    for (const escape of line.matchAll(/\\u(\{[0-9a-f]+\}|[0-9a-f]{4})/g)) {
      this.mark("warning", at + escape.index, at + escape.index + escape[0].length);
    }
  }

  private mark(paint: Paint, from: number, to: number): void {
    if (to > from) {
      this.marks.push({ paint, line: this.lines.length - 1, from, to });
    }
  }
}
