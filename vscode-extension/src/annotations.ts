// What a diff cannot say by itself: above its changes the answers, and in dim words beside the first one why it asks, and that it was updated.

import { Disposable, MarkdownString, Range, type TextEditor, ThemeColor, window, workspace } from "vscode";
import { AnswerBar } from "./answer-bar";
import type { ApprovalListener, Approvals } from "./approvals";
import { messageOf } from "./request-page";
import { approvalIdOf, pathOf, proposal } from "./schemes";

export class Annotations implements Partial<ApprovalListener>, Disposable {
  private readonly paint = window.createTextEditorDecorationType({
    after: { color: new ThemeColor("editorCodeLens.foreground"), fontStyle: "italic", margin: "0 0 0 3em" },
  });
  private readonly bar: AnswerBar;
  private readonly subscription = Disposable.from(
    window.onDidChangeVisibleTextEditors((editors) => {
      editors.forEach((editor) => {
        this.annotate(editor);
      });
    }),
    workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme === proposal) {
        this.changed();
      }
    }),
  );

  constructor(private readonly approvals: Approvals) {
    this.bar = new AnswerBar(approvals);
  }

  dispose(): void {
    this.bar.dispose();
    this.subscription.dispose();
    this.paint.dispose();
  }

  added(): void {
    this.bar.refresh();
  }

  removed(): void {
    this.bar.refresh();
  }

  changed(): void {
    this.bar.refresh();
    window.visibleTextEditors.forEach((editor) => {
      this.annotate(editor);
    });
  }

  private annotate(editor: TextEditor): void {
    const { uri } = editor.document;
    const approval = uri.scheme === proposal ? this.approvals.get(approvalIdOf(uri) ?? "") : undefined;
    const file = approval?.files.find((candidate) => candidate.path === pathOf(uri));
    if (!approval || !file) {
      return;
    }
    const contentText = [approval.note, file.banner].filter(Boolean).join(" · ");
    const line = Math.min(place(file.before, approval.chosen.right(file.path)), editor.document.lineCount - 1);
    const range = editor.document.validateRange(new Range(line, Number.MAX_SAFE_INTEGER, line, Number.MAX_SAFE_INTEGER));
    const beside = { range, hoverMessage: new MarkdownString().appendCodeblock([contentText, ...messageOf(approval)].join("\n"), "text"), renderOptions: { after: { contentText } } };
    editor.setDecorations(this.paint, contentText ? [beside] : []);
  }
}

/** The line of the proposal with the most room at or shortly before its first change; zero-based. */
function place(before: string, after: string): number {
  const [old, lines] = [before.split("\n"), after.split("\n")];
  const first = Math.max(
    0,
    lines.findIndex((line, index) => line !== old[index]),
  );
  const width = (line: number): number => lines[line]?.length ?? 0;
  const near = [first, first - 1, first - 2, first - 3].filter((line) => line >= 0);
  return near.reduce((best, line) => (width(line) < width(best) ? line : best), first);
}
