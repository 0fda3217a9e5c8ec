// What a diff cannot say by itself. The answers to a request as links: on top of its page, above the first change of each proposed file, and
// above each hunk of which you may take a part. And in dim words beside the first change why it asks, and that it was updated.

import { CodeLens, type CodeLensProvider, Disposable, EventEmitter, languages, MarkdownString, Range, type TextDocument, type TextEditor, ThemeColor, window, workspace } from "vscode";
import { type Approval, type ApprovalListener, type Approvals, ownText } from "./approvals";
import { visible } from "./escape";
import { hunkSize, isWhole } from "./hunks";
import { lineWidth, messageOf, no, yes } from "./request-page";
import { approvalIdOf, page, pathOf, proposal } from "./schemes";

export class Annotations implements CodeLensProvider, Partial<ApprovalListener>, Disposable {
  private readonly links = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.links.event;
  private readonly paint = window.createTextEditorDecorationType({
    after: { color: new ThemeColor("editorCodeLens.foreground"), fontStyle: "italic", margin: "0 0 0 3em" },
  });
  private readonly subscription = Disposable.from(
    languages.registerCodeLensProvider([{ scheme: page }, { scheme: proposal }], this),
    this.links,
    this.paint,
    window.onDidChangeVisibleTextEditors((editors) => {
      editors.forEach((editor) => this.annotate(editor));
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
  }

  added(): void {
    this.links.fire();
  }

  removed(): void {
    this.links.fire();
  }

  changed(): void {
    this.links.fire();
    window.visibleTextEditors.forEach((editor) => this.annotate(editor));
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const { uri } = document;
    const approval = this.approvals.get(approvalIdOf(uri) ?? "");
    if (!approval) {
      return [];
    }
    const above = (line: number, title: string, command: string, tooltip: string, ...args: unknown[]): CodeLens => {
      const at = Math.min(line, document.lineCount - 1);
      return new CodeLens(new Range(at, 0, at, 0), { title, tooltip, command: `pillion.${command}`, arguments: args });
    };
    const path = uri.scheme === proposal ? pathOf(uri) : "";
    const hunks = approval.chosen.hunksOf(path).filter((hunk) => !isWhole(hunk));
    const [first] = hunks;
    const top = first ? approval.chosen.place(path, first).start : 0;
    const answers = answersOf(approval, modifier, path).map(({ title, command, tooltip, args }) => above(top, title, command, tooltip, ...(args ?? [uri])));
    const ticks = (approval.chosen.isOpen ? hunks : []).map((hunk) => {
      const title = approval.chosen.takes(hunk) ? "$(circle-slash)\u00a0Leave Out" : `$(add)\u00a0Include (${hunkSize(hunk)})`;
      return above(approval.chosen.place(path, hunk).start, title, "toggleHunk", `${hunk.title} (${modifier}+K H)`, approval.id, path, hunk.id);
    });
    return [...answers.slice(0, 2), ...ticks, ...answers.slice(2)];
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
  const first = Math.max(0, lines.findIndex((line, index) => line !== old[index]));
  const width = (line: number): number => lines[line]?.length ?? 0;
  const near = [first, first - 1, first - 2, first - 3].filter((line) => line >= 0);
  return near.reduce((best, line) => (width(line) < width(best) ? line : best), first);
}

/** Of the machine that the extension runs on, which is most often the one with the keyboard. */
const modifier = process.platform === "darwin" ? "Cmd" : "Ctrl";

interface Answer {
  title: string;
  /** Without `pillion.`; it gets the address of what it stands on, or its own arguments. */
  command: string;
  args?: string[];
  tooltip: string;
}

/** From left to right: what is cut off in a narrow editor is in the menu of its title too. `path` is of the file that it stands on. */
function answersOf(approval: Approval, modifier: string, path?: string): Answer[] {
  const paths = approval.texts.map((file) => file.path);
  const next = paths.length > 1 && path !== undefined ? paths[(paths.indexOf(path) + 1) % paths.length] : undefined;
  const [refusal, consent] = approval.request.decisions ?? [];
  const [rejects, own] = [refusal?.title ?? "Reject", ownText(approval.request.preview)];
  const answer = (icon: string, title: string, command: string, key = "", meaning = ""): Answer[] => [
    { title: `$(${icon})\u00a0${title}`, command, tooltip: [meaning, key && `(${modifier}+K ${key})`].filter(Boolean).join(" ") },
  ];
  const show = (icon: string, title: string, tooltip: string): Answer => ({ title: `$(${icon})\u00a0${title}`, command: "show", tooltip });
  return [
    ...(approval.chosen.isNothing ? [] : answer("check", yes(approval), "approve", "Y", consent?.meaning)),
    ...answer("close", no(approval), "reject", "N", approval.comments.length > 0 ? "the agent reads your comments and goes on" : refusal?.meaning),
    ...(messageOf(approval).join("").length > lineWidth ? [{ ...show("comment-discussion", "Message", "What the agent says of it"), command: "readMessage", args: [approval.id] }] : []),
    ...(next === undefined ? [] : [{ ...show("arrow-down", "Next File", visible(next)), args: [approval.id, next] }, { ...show("diff-multiple", `All ${String(paths.length)} Files`, "In one editor"), args: [approval.id] }]),
    ...answer("comment", `${rejects} with Reason…`, "rejectWithReason", "Shift+N", "The agent reads your reason and goes on"),
    ...(approval.isDraft ? answer("trash", "Discard Draft…", "discardDraft", "", "Nothing is applied, and all of it is gone") : []),
    ...(approval.editableCommand === undefined ? [] : answer("edit", "Edit Command…", "editCommand", "", "Your command runs")),
    ...(approval.message === undefined ? [] : answer("edit", own.title, "editMessage", "", own.meaning)),
    ...(approval.remembering.length === 0 ? [] : answer("check-all", "Approve and Remember…", "approveAndRemember", "Shift+Y", "Calls like this one run without asking")),
    ...(approval.chosen.isOpen ? answer("checklist", "Choose Hunks", "chooseHunks", "", "The list with a box for each hunk") : []),
  ];
}
