// Shows pages and the texts of diffs as read-only documents, and paints the pages.

import {
  CodeLens,
  type CodeLensProvider,
  Disposable,
  type Event,
  EventEmitter,
  languages,
  OverviewRulerLane,
  Range,
  type TextDocument,
  type TextDocumentContentProvider,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  Uri,
  window,
  workspace,
} from "vscode";
import type { Approval, ApprovalListener, Approvals } from "./approvals";
import { endedPage, requestPage } from "./request-page";
import { address, approvalIdOf, connect, doctor, ended, original, page, proposal, question, revert, revertAfter, revertBefore, tools, trust, unchanged } from "./schemes";
import { type Page, type Paint, pictureLines } from "./sheet";

const language = "pillion-page";

export class Pages implements CodeLensProvider, Partial<ApprovalListener>, Disposable {
  private readonly shown = new Map<string, Page>();
  private readonly changes = new EventEmitter<Uri>();
  private readonly paints = paints();
  private readonly pictures = window.createTextEditorDecorationType({});
  private readonly subscriptions: Disposable;

  constructor(private readonly approvals: Approvals) {
    this.subscriptions = Disposable.from(
      ...[page, ended, question, ...Object.keys(gone)].map((scheme) => workspace.registerTextDocumentContentProvider(scheme, this.of(scheme))),
      languages.registerCodeLensProvider({ scheme: page }, this),
      window.onDidChangeVisibleTextEditors((editors) => {
        editors.forEach((editor) => this.paint(editor));
      }),
      workspace.onDidChangeTextDocument(({ document }) => this.repaint(document)),
      this.changes,
      this.pictures,
      ...this.paints.values(),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  added(approval: Approval): void {
    if (approval.hasPage) {
      this.put(pageAddress(approval), requestPage(approval));
    }
  }

  changed(approval: Approval): void {
    this.added(approval);
  }

  removed(approval: Approval): void {
    this.forget(pageAddress(approval));
  }

  async ready(approval: Approval): Promise<Uri> {
    return this.open(pageAddress(approval));
  }

  /** Where its page tells of a file; the key is that of Chosen. */
  placeOf(approval: Approval, key: string | undefined): Range | undefined {
    const line = this.shown.get(pageAddress(approval).toString())?.places.get(key ?? "");
    return line === undefined ? undefined : new Range(line, 0, line, 0);
  }

  async readyEnded(approval: Approval, outcome: string): Promise<Uri> {
    const uri = address(ended, approval.id, "Closed request");
    this.put(uri, endedPage(approval.request, outcome));
    return this.open(uri);
  }

  /** The user asked for it, so it takes the focus. */
  async present(uri: Uri, content: Page): Promise<void> {
    this.put(uri, content);
    await window.showTextDocument(await this.open(uri), { preview: false });
  }

  /** Each scheme has a provider of its own: VS Code warns of every change that is not of the provider's scheme. */
  private of(scheme: string): TextDocumentContentProvider {
    const onDidChange: Event<Uri> = (listener: (uri: Uri) => unknown) => this.changes.event((uri) => uri.scheme === scheme && listener(uri));
    return { onDidChange, provideTextDocumentContent: (uri) => this.shown.get(uri.toString())?.text ?? gone[scheme] ?? "This request was answered or closed.\n" };
  }

  /** What can be done here besides answering: save what the command would not see. */
  provideCodeLenses(document: TextDocument): CodeLens[] {
    const count = this.approvals.get(approvalIdOf(document.uri) ?? "")?.unsaved.length ?? 0;
    if (count === 0) {
      return [];
    }
    const line = this.shown.get(document.uri.toString())?.action ?? 0;
    const at = new Range(line, 0, line, 0);
    const which = count === 1 ? "it" : "them";
    const run = { title: "$(run) Save and run", command: "pillion.saveAndRun", arguments: [document.uri] };
    const save = { title: `$(save) Only save ${which}`, command: "pillion.saveUnseen", arguments: [document.uri] };
    if (this.approvals.get(approvalIdOf(document.uri) ?? "")?.request.preview.kind !== "command") {
      return [new CodeLens(at, { ...save, title: "$(save) Save first" })]; // it is another commit then, and asked anew
    }
    return [new CodeLens(at, run), new CodeLens(at, save)];
  }

  private async open(uri: Uri): Promise<Uri> {
    const document = await workspace.openTextDocument(uri);
    if (document.languageId !== language) {
      await languages.setTextDocumentLanguage(document, language);
    }
    return uri;
  }

  put(uri: Uri, content: Page): void {
    this.shown.set(uri.toString(), content);
    this.changes.fire(uri);
  }

  /** A side of a diff. */
  putText(uri: Uri, text: string): void {
    if (this.shown.get(uri.toString())?.text !== text) {
      this.put(uri, { text, marks: [], pictures: [], places: new Map() });
    }
  }

  forget(uri: Uri): void {
    this.shown.delete(uri.toString());
  }

  private repaint(document: TextDocument): void {
    for (const editor of window.visibleTextEditors) {
      if (editor.document === document) {
        this.paint(editor);
      }
    }
  }

  private paint(editor: TextEditor): void {
    const content = this.shown.get(editor.document.uri.toString());
    if (!content) {
      return;
    }
    for (const [paint, decoration] of this.paints) {
      const marks = content.marks.filter((mark) => mark.paint === paint);
      editor.setDecorations(decoration, marks.map((mark) => new Range(mark.line, mark.from, mark.line, mark.to)));
    }
    editor.setDecorations(
      this.pictures,
      content.pictures.map(({ line, at, url }) => ({ range: new Range(line, at, line, at), renderOptions: { after: { contentIconPath: Uri.parse(scaled(url)) } } })),
    );
  }
}

function pictureSide(): string {
  return (pictureLines * 1.3 * workspace.getConfiguration("editor").get("fontSize", 14)).toFixed();
}

/** The whole picture in a square about as high as the lines that it has. */
function scaled(url: string): string {
  const size = `width="${pictureSide()}" height="${pictureSide()}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image href="${url}" ${size}/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

/** What a tab says that VS Code kept from an earlier life of this window. */
const gone: Record<string, string> = {
  [doctor]: "The command Pillion: Doctor looks again.\n",
  [connect]: "The command Pillion: Connect an Agent… shows it again.\n",
  [tools]: "The command Pillion: Show Tools lists them again.\n",
  [revert]: "This was a preview of a revert. The view Changes has what can be reverted.\n",
  [trust]: "The view of Pillion has this question, if it is still open.\n",
  [original]: "",
  [unchanged]: "",
  [revertBefore]: "",
  [revertAfter]: "",
};

function pageAddress({ id, request }: Approval): Uri {
  return address(page, id, request.preview.question);
}

/** Of everything that shows a request. */
export function addresses(approval: Approval): string[] {
  const sides = approval.texts.flatMap(({ path }) => [original, proposal].map((scheme) => address(scheme, approval.id, path)));
  return [...sides, pageAddress(approval)].map(String);
}

function paints(): Map<Paint, TextEditorDecorationType> {
  const color = (id: string): ThemeColor => new ThemeColor(id);
  const make = window.createTextEditorDecorationType.bind(window);
  return new Map<Paint, TextEditorDecorationType>([
    ["heading", make({ fontWeight: "bold", color: color("editor.foreground") })],
    [
      "code",
      make({
        isWholeLine: true,
        backgroundColor: color("textCodeBlock.background"),
        borderColor: color("focusBorder"),
        borderStyle: "solid",
        borderWidth: "0 0 0 3px",
        overviewRulerLane: OverviewRulerLane.Left,
      }),
    ],
    ["prompt", make({ color: color("descriptionForeground") })],
    ["label", make({ color: color("descriptionForeground") })],
    ["choice", make({ fontWeight: "bold" })],
    ["muted", make({ color: color("descriptionForeground") })],
    ["rule", make({ color: color("textPreformat.foreground"), backgroundColor: color("textPreformat.background") })],
    ["added", make({ isWholeLine: true, backgroundColor: color("diffEditor.insertedLineBackground") })],
    ["removed", make({ isWholeLine: true, backgroundColor: color("diffEditor.removedLineBackground") })],
    ["warning", make({ color: color("editorWarning.foreground"), fontWeight: "bold" })],
  ]);
}
