// What an agent changed, to go through once it is done: a turn's files in one editor, and in a file Keep and Undo above each block. Undo
// of a block is an edit of the text like any other; Undo of a file is a revert.

import { CodeLens, type CodeLensProvider, commands, Disposable, EventEmitter, languages, Range, type TextDocument, Uri, window, workspace, WorkspaceEdit } from "vscode";
import { short, visible } from "./escape";
import type { Gutter } from "./gutter";
import { hunksOf, ownLines, size } from "./hunks";
import type { Target } from "./journal";
import type { LineMark, Marks } from "./marks";
import { say } from "./notices";
import type { Pages } from "./pages";
import type { FilePreview, JournalReverted } from "./protocol";
import { filesOf } from "./revert-page";
import type { Reverts } from "./reverts";
import { address, openStack, type Pair, unchanged } from "./schemes";

export class ChangeReview implements CodeLensProvider, Disposable {
  /** What is gone through, by the address of the file. */
  private readonly reviewed = new Map<string, Target & { line: number }>();
  private readonly lenses = new EventEmitter<void>();
  private readonly subscriptions: Disposable;
  private count = 0;
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(
    private readonly marks: Marks,
    private readonly gutter: Gutter,
    private readonly reverts: Reverts,
    private readonly pages: Pages,
  ) {
    this.subscriptions = Disposable.from(
      languages.registerCodeLensProvider({ scheme: "file" }, this),
      gutter.onDidDraw(() => this.lenses.fire()),
      this.lenses,
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Each file as it was, without these changes, beside what it is now; there the user may write. */
  async show(target: Target): Promise<void> {
    const result = await this.reverts.ask(target, true);
    const files = result ? filesOf(result).filter(({ text }) => text) : [];
    if (!result || files.length === 0) {
      void say.information(`There are no lines to compare: ${short(target.name, 120)}.`);
      return;
    }
    this.count += 1;
    const pairs = files.map((file) => this.pair(file));
    files.forEach(({ uri, path, hunks }) => this.reviewed.set(Uri.parse(uri).toString(), { selector: { ...target.selector, path }, name: `${target.name}, in ${visible(path)}`, line: hunks?.[0]?.before?.start ?? 0 }));
    this.lenses.fire();
    const [first] = pairs;
    await (first && pairs.length === 1 ? commands.executeCommand("vscode.diff", first.left, first.right, titleOf(target), { preview: false }) : openStack(titleOf(target), pairs));
    tellLeftOut(result);
  }

  provideCodeLenses({ uri, lineCount }: TextDocument): CodeLens[] {
    const lens = (line: number, title: string, command: string, tooltip: string, argument: object): CodeLens => {
      const at = Math.min(line, lineCount - 1);
      return new CodeLens(new Range(at, 0, at, 0), { title, command: `pillion.${command}`, tooltip, arguments: [argument] });
    };
    const file = { uri: uri.toString() };
    const line = this.reviewed.get(file.uri)?.line;
    const whole = line !== undefined
      ? [lens(line, "$(check-all)\u00a0Keep File", "keepFile", "All of it is as you want it", file), lens(line, "$(discard)\u00a0Undo File…", "undoFile", "You see a preview first", file)]
      : [];
    const blocks = this.marks.of(file.uri).flatMap((mark) => {
      const place = { ...file, line: mark.start };
      const words = { title: `${sizeOf(mark)} by ${short(mark.by.agent, 30)}`, tooltip: `${short(mark.by.title, 120)}: show the lines that stood there before` };
      return [
        lens(mark.start, "$(check)\u00a0Keep", "keepBlock", "It is as you want it: the mark goes", place),
        lens(mark.start, "$(discard)\u00a0Undo", "undoBlock", "The lines that stood there before come back, as an edit that you can undo", place),
        lens(mark.start, words.title, "showChange", words.tooltip, place),
      ];
    });
    return [...whole, ...blocks];
  }

  keepFile(uri: Uri): void {
    this.reviewed.delete(uri.toString());
    this.gutter.accept(uri);
  }

  async undoFile(uri: Uri): Promise<void> {
    const target = this.reviewed.get(uri.toString());
    await (target && this.reverts.preview(target));
  }

  /** Puts the lines back that stood there before a change, and leaves everything else. */
  async undoBlock(uri: Uri, mark: LineMark, target: Target): Promise<void> {
    const result = await this.reverts.ask(target, true);
    const document = await workspace.openTextDocument(uri);
    const file = result && filesOf(result).find((candidate) => Uri.parse(candidate.uri).toString() === uri.toString());
    const hunks = file?.text === true && file.before === document.getText().replaceAll("\r\n", "\n") ? hunksOf(file) : [];
    const edit = new WorkspaceEdit();
    for (const hunk of hunks) {
      if (hunk.before && hunk.before.start <= mark.end && mark.start <= hunk.before.end) {
        edit.replace(uri, document.validateRange(new Range(hunk.before.start, 0, hunk.before.end, 0)), ownLines(hunk, "new").join(""));
      }
    }
    if (edit.size === 0 || !(await workspace.applyEdit(edit))) {
      void say.information("This block cannot be undone by itself, because it was changed since. Show the change, and edit the text.");
      return;
    }
    const moved = this.marks.of(uri.toString()).find(({ start, by }) => start === mark.start && by.callId === mark.by.callId);
    if (moved) {
      this.gutter.keep(uri, moved);
    }
  }

  private pair(file: FilePreview): Pair {
    const { path } = Uri.parse(file.uri); // in full, else VS Code shows it as renamed
    const left = address(unchanged, String(this.count), path);
    this.pages.putText(left, file.after);
    return { left, right: file.operation === "create" ? address(unchanged, `${String(this.count)} gone`, path) : Uri.parse(file.uri) };
  }
}

/** `+2 −1`, as far as it is known. */
function sizeOf({ start, end, was }: LineMark): string {
  return was === undefined ? `+${String(end - start)}` : size([{ additions: end - start, deletions: was }]);
}

function titleOf({ name }: Target): string {
  return `Before ↔ now: ${short(name, 80)}`;
}

function tellLeftOut(result: JournalReverted): void {
  const others = [...filesOf(result).filter(({ text }) => !text).map(({ path }) => path), ...(result.conflicts ?? [])];
  if (others.length > 0) {
    window.setStatusBarMessage(`$(info) Pillion: not shown, ${others.length === 1 ? "1 file" : `${String(others.length)} files`} without lines to compare, or changed since`, 6000);
  }
}
