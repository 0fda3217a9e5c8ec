// What a diff cannot say by itself, in dim words beside its first change: why it asks, and that it was updated.

import { Disposable, MarkdownString, Range, type TextEditor, ThemeColor, window } from "vscode";
import { type Approval, type ApprovalListener, type Approvals, particulars } from "./approvals";
import { short } from "./escape";
import { mergedNote } from "./file-words";
import type { FilePreview } from "./protocol";
import { approvalIdOf, pathOf, proposal } from "./schemes";

export class Annotations implements Partial<ApprovalListener>, Disposable {
  private readonly paint = window.createTextEditorDecorationType({
    after: { color: new ThemeColor("editorCodeLens.foreground"), fontStyle: "italic", margin: "0 0 0 3em" },
  });
  private readonly subscription = window.onDidChangeVisibleTextEditors((editors) => {
    editors.forEach((editor) => {
      this.annotate(editor);
    });
  });

  constructor(private readonly approvals: Approvals) {}

  dispose(): void {
    this.subscription.dispose();
    this.paint.dispose();
  }

  changed(): void {
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
    const line = Math.min(place(file), editor.document.lineCount - 1);
    const range = new Range(line, Number.MAX_SAFE_INTEGER, line, Number.MAX_SAFE_INTEGER);
    const contentText = words(approval, file.merged === true);
    const hoverMessage = new MarkdownString().appendText(contentText);
    const decoration = { range: editor.document.validateRange(range), hoverMessage, renderOptions: { after: { contentText } } };
    editor.setDecorations(this.paint, contentText ? [decoration] : []);
  }
}

/** That it is merged is said first, and once. */
function words(approval: Approval, merged: boolean): string {
  const { note } = approval;
  const reasons = particulars(approval.request).filter((reason) => !(merged && /\bmerged\b/.test(reason))).map((reason) => short(reason, 160));
  return [...(merged ? [mergedNote] : []), ...(note ? [note] : []), ...(reasons.length > 0 ? [`asks because ${reasons.join("; ")}`] : [])].join(" · ");
}

/** The line of the proposal with the most room at or shortly before its first change; zero-based. */
function place({ before, after }: FilePreview): number {
  const [old, lines] = [before.split("\n"), after.split("\n")];
  const first = Math.max(
    0,
    lines.findIndex((line, index) => line !== old[index]),
  );
  const width = (line: number): number => lines[line]?.length ?? 0;
  const near = [first, first - 1, first - 2, first - 3].filter((line) => line >= 0);
  return near.reduce((best, line) => (width(line) < width(best) ? line : best), first);
}
