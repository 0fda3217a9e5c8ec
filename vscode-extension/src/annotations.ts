// What a diff cannot say by itself, in dim words beside its first change: why it asks, and that it was updated.

import { type DecorationOptions, Disposable, MarkdownString, Range, type TextEditor, ThemeColor, window, workspace } from "vscode";
import type { Approval, ApprovalListener, Approvals } from "./approvals";
import { hunkSize } from "./hunk-items";
import type { Hunk } from "./hunks";
import type { FilePreview } from "./protocol";
import { approvalIdOf, pathOf, proposal } from "./schemes";

export class Annotations implements Partial<ApprovalListener>, Disposable {
  private readonly paint = window.createTextEditorDecorationType({
    after: { color: new ThemeColor("editorCodeLens.foreground"), fontStyle: "italic", margin: "0 0 0 3em" },
  });
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
    const beside = (line: number, contentText: string, link = ""): DecorationOptions => {
      const end = new Range(line, Number.MAX_SAFE_INTEGER, line, Number.MAX_SAFE_INTEGER);
      const hoverMessage = new MarkdownString().appendText(contentText).appendMarkdown(link);
      hoverMessage.isTrusted = { enabledCommands: ["pillion.toggleHunk"] };
      return { range: editor.document.validateRange(end), hoverMessage, renderOptions: { after: { contentText } } };
    };
    const said = [approval.note, file.banner].filter(Boolean).join(" · ");
    const left = approval.chosen.hunksOf(file.path).filter((hunk) => !approval.chosen.takes(hunk));
    const marks = left.map((hunk) => {
      const { start, end } = approval.chosen.place(file.path, hunk);
      return beside(Math.max(0, end > start ? start : start - 1), ["left out", hunkSize(hunk)].filter(Boolean).join(": "), takeLink(approval, file, hunk));
    });
    editor.setDecorations(this.paint, [...(said ? [beside(Math.min(place(file.before, approval.chosen.right(file.path)), editor.document.lineCount - 1), said)] : []), ...marks]);
  }
}

function takeLink({ id }: Approval, { path }: FilePreview, hunk: Hunk): string {
  return `\n\n[Take it](command:pillion.toggleHunk?${encodeURIComponent(JSON.stringify([id, path, hunk.id]))})`;
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
