// Draws which lines an agent changed, with a badge on their files in the Explorer, and hears of what moves or ends the marks: typing, undo, a
// save by hand.

import {
  commands,
  type DecorationOptions,
  Disposable,
  EventEmitter,
  FileDecoration,
  type FileDecorationProvider,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextDocument,
  type TextDocumentChangeEvent,
  TextDocumentChangeReason,
  TextDocumentSaveReason,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  Uri,
  window,
  workspace,
} from "vscode";
import type { Documents } from "./documents";
import { short, visible } from "./escape";
import { when } from "./journal";
import { type LineMark, type Maker, type Marks, replacedLines } from "./marks";
import type { ChangedFile } from "./protocol";

/** A change to an open document, so that its undo can be known. */
interface Step {
  callId: string;
  before: string;
  after: string;
  /** What an undo took away. */
  hidden: readonly LineMark[];
}

/** Of each document the last ones are enough: who undoes more has left the marks behind. */
const stepsKept = 20;

export class Gutter implements FileDecorationProvider, Disposable {
  private readonly drawn = new EventEmitter<void>();
  readonly onDidDraw = this.drawn.event;
  private readonly badges = new EventEmitter<Uri[]>();
  readonly onDidChangeFileDecorations = this.badges.event;
  /** Addresses of the files that have a badge. */
  private badged: readonly string[] = [];
  private readonly paints = paints();
  private readonly steps = new Map<string, Step[]>();
  /** Documents whose save the user is about to make with their own hand. */
  private readonly byHand = new Set<string>();
  private readonly subscriptions: Disposable;

  constructor(
    private readonly marks: Marks,
    private readonly documents: Documents,
  ) {
    this.subscriptions = Disposable.from(
      workspace.onDidChangeTextDocument((event) => this.changed(event)),
      workspace.onWillSaveTextDocument(({ document, reason }) => {
        const uri = document.uri.toString();
        if (reason === TextDocumentSaveReason.Manual && !this.documents.isEditing(uri)) {
          this.byHand.add(uri);
        }
      }),
      workspace.onDidSaveTextDocument(({ uri }) => {
        if (this.byHand.delete(uri.toString()) && this.marks.drop(uri.toString())) {
          this.draw();
        }
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.steps.delete(uri.toString())),
      window.onDidChangeVisibleTextEditors(() => this.draw()),
      window.registerFileDecorationProvider(this),
      this.drawn,
      this.badges,
      ...Object.values(this.paints),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** An agent changed these files. */
  add(files: readonly ChangedFile[], by: Maker): void {
    for (const { uri, operation, toUri, lines } of files) {
      const key = Uri.parse(uri).toString();
      if (operation === "move" || operation === "delete") {
        this.marks.move(key, toUri ? Uri.parse(toUri).toString() : undefined);
      } else if ((lines ?? []).length > 0) {
        this.marks.add(key, lines ?? [], by, opened(key) !== undefined);
        this.remember(key, by.callId);
      }
    }
    this.draw();
  }

  /** Something else wrote these files; where nobody has them open, nobody can say where the marks are now. */
  lose(uris: readonly string[]): void {
    for (const uri of uris.filter((address) => address !== "").map((address) => Uri.parse(address).toString())) {
      if (!opened(uri)) {
        this.marks.drop(uri);
      }
    }
    this.draw();
  }

  /** The user has seen them. */
  accept(uri?: Uri): number {
    const uris = uri ? [uri.toString()].filter((key) => this.marks.of(key).length > 0) : this.marks.uris;
    uris.forEach((key) => this.marks.drop(key));
    this.draw();
    return uris.length;
  }

  /** The user has seen this one. */
  keep(uri: Uri, mark: LineMark): void {
    this.marks.dropOne(uri.toString(), mark);
    this.draw();
  }

  /** These changes are there no more. */
  forget(callIds: ReadonlySet<string>): void {
    if (this.marks.dropCalls(callIds)) {
      this.draw();
    }
  }

  draw(): void {
    this.drawn.fire();
    for (const editor of window.visibleTextEditors) {
      this.drawIn(editor);
    }
    const { badged } = this;
    this.badged = this.marks.uris;
    const [before, now] = [new Set(badged), new Set(this.badged)];
    const differ = [...badged, ...this.badged].filter((uri) => before.has(uri) !== now.has(uri));
    if (differ.length > 0) {
      this.badges.fire(differ.map((uri) => Uri.parse(uri)));
    }
    const uris = this.badged.map((uri) => Uri.parse(uri));
    // A window whose files are elsewhere knows them by the path of their address, any other by the system's.
    void commands.executeCommand("setContext", "pillion.markedFiles", [...new Set(uris.flatMap(({ path, fsPath }) => [path, fsPath]))]);
  }

  provideFileDecoration(uri: Uri): FileDecoration | undefined {
    const agents = new Set(this.marks.of(uri.toString()).map(({ by }) => short(by.agent, 40)));
    const words = `Changed by ${[...agents].join(", ")}, not accepted yet`;
    return agents.size === 0 ? undefined : new FileDecoration("◆", words, new ThemeColor("pillion.changedByAgent"));
  }

  private drawIn(editor: TextEditor): void {
    const marks = this.marks.of(editor.document.uri.toString());
    for (const kind of ["added", "changed", "removed"] as const) {
      editor.setDecorations(this.paints[kind], marks.filter((mark) => mark.kind === kind).map((mark) => decoration(editor.document, mark)));
    }
  }

  private changed({ document, contentChanges, reason }: TextDocumentChangeEvent): void {
    const uri = document.uri.toString();
    if (contentChanges.length === 0 || (this.marks.of(uri).length === 0 && !this.steps.has(uri))) {
      return;
    }
    const before = this.marks.of(uri);
    let redraw = this.marks.shift(uri, replacedLines(contentChanges, (line) => (line < document.lineCount ? document.lineAt(line).text.length : -1)));
    if (reason === TextDocumentChangeReason.Undo || reason === TextDocumentChangeReason.Redo) {
      redraw = this.undone(uri, document.getText(), reason === TextDocumentChangeReason.Undo, before) || redraw;
    }
    if (redraw) {
      this.draw();
    }
  }

  /** An undo that takes an agent's edit out takes its marks away; a redo brings them back. */
  private undone(uri: string, text: string, undo: boolean, before: readonly LineMark[]): boolean {
    const step = this.steps.get(uri)?.findLast((known) => (undo ? known.before : known.after) === text);
    if (!step) {
      return false;
    }
    if (undo) {
      step.hidden = before.filter(({ by }) => by.callId === step.callId);
      return this.marks.dropCalls(new Set([step.callId]), uri);
    }
    this.marks.restore(uri, step.hidden);
    const restored = step.hidden.length > 0;
    step.hidden = [];
    return restored;
  }

  private remember(uri: string, callId: string): void {
    const edit = this.documents.lastEdit(uri);
    if (edit) {
      this.steps.set(uri, [...(this.steps.get(uri) ?? []), { callId, ...edit, hidden: [] }].slice(-stepsKept));
    }
  }
}

function opened(uri: string): TextDocument | undefined {
  return workspace.textDocuments.find((document) => document.uri.toString() === uri);
}

function decoration(document: TextDocument, { start, end, kind, by }: LineMark): DecorationOptions {
  const last = kind === "removed" ? start : end - 1;
  const range = document.validateRange(new Range(start, 0, last, Number.MAX_SAFE_INTEGER));
  return { range, hoverMessage: hover(document.uri, start, kind, by) };
}

const did = { added: "added this", changed: "changed this", removed: "removed lines here" };

/** Who, when, in which change; and what can be done. Only our own commands are links, and nothing of the agent's is Markdown. */
function hover(uri: Uri, line: number, kind: LineMark["kind"], by: Maker): MarkdownString {
  const text = new MarkdownString("", true);
  const link = (title: string, command: string): string => `[${title}](command:${command}?${encodeURIComponent(JSON.stringify([{ uri: uri.toString(), line }]))})`;
  text.isTrusted = { enabledCommands: ["pillion.revertChange", "pillion.revertTurn", "pillion.accept"] };
  text.appendText(`${visible(by.agent)} ${did[kind]}${by.time ? `, ${when(by.time, new Date())}` : ""}: ${short(by.title, 120)}`);
  const links = [
    link("$(discard) Revert This Change…", "pillion.revertChange"),
    link("$(history) Revert This Turn…", "pillion.revertTurn"),
    link("$(check) Accept in This File", "pillion.accept"),
  ];
  return text.appendMarkdown(`\n\n${links.join("&nbsp;&nbsp;")}`);
}

function paints(): Record<LineMark["kind"], TextEditorDecorationType> {
  const make = (kind: LineMark["kind"]): TextEditorDecorationType => {
    const color = new ThemeColor(`pillion.${kind}ByAgent`);
    return window.createTextEditorDecorationType({
      isWholeLine: true,
      overviewRulerColor: color,
      overviewRulerLane: OverviewRulerLane.Left,
      gutterIconSize: "100% 100%",
      light: { gutterIconPath: icon(kind, "#8250df") },
      dark: { gutterIconPath: icon(kind, "#a371f7") }, // no colour of git's
    });
  };
  return { added: make("added"), changed: make("changed"), removed: make("removed") };
}

/** A bar at the lines, or a wedge between two. */
function icon(kind: LineMark["kind"], color: string): Uri {
  const shape = kind === "removed" ? `<path d="M0 0 L9 0 L0 7 Z" fill="${color}"/>` : `<rect width="4" height="18" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="18" height="18" viewBox="0 0 18 18" id="${kind}" preserveAspectRatio="none">${shape}</svg>`;
  return Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}
