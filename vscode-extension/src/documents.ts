// What LSP does not say about open documents (`document/state`), and the sidecar's edits to them (`document/edit`).
// A state always follows the change whose version it names, and an edit is answered only after all that it
// caused was told.

import { accessSync, constants } from "node:fs";
import {
  Disposable,
  EndOfLine,
  Range,
  type Tab,
  TabInputCustom,
  TabInputNotebook,
  type TextDocument,
  type TextDocumentChangeEvent,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
} from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { say } from "./notices";
import { encodingOf, hasRoom, mostBytes } from "./on-disk";
import { type DocumentEdit, type DocumentEditResult, type DocumentState, methods, type TextEdit } from "./protocol";

/** How many milliseconds the sidecar may take to take a change of several files back, one of which could not be saved. */
const takenBackTime = 1000;

type Notify = (method: string, params: unknown) => Promise<void>;

export class Documents implements Disposable {
  /** What the sidecar knows, by address. */
  private readonly told = new Map<string, string>();
  /** The last change on its way to the sidecar, by address. */
  private readonly sending = new Map<string, Promise<void>>();
  /** Those in which an edit of the sidecar's is being made, and saved. */
  private readonly editing = new Set<string>();
  /** The texts around the last edit, by address. */
  private readonly edits = new Map<string, { before: string; after: string }>();
  /** Documents that hold an edit which could not be saved, and their version then: nothing in them is the user's. */
  private readonly unsaved = new Map<string, number>();
  private notify: Notify | undefined;
  private readonly subscriptions = Disposable.from(
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length === 0) {
        void this.report(document);
      }
    }),
    window.tabGroups.onDidChangeTabs(({ opened, changed, closed }) => {
      [...opened, ...changed].forEach((tab) => this.reportTab(tab, tab.isDirty));
      closed.forEach((tab) => {
        this.reportTab(tab, false); // whatever it held is saved or given up
      });
    }),
  );

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** A sidecar has just been started, or is gone: nothing was told yet. */
  attach(notify: Notify | undefined): void {
    this.told.clear();
    this.sending.clear();
    this.notify = notify;
  }

  readonly middleware: Middleware = {
    didOpen: (document, next) => this.afterSending(document, next(document)),
    didChange: (event: TextDocumentChangeEvent, next) => this.afterSending(event.document, next(event)),
    didClose: async (document, next) => {
      this.told.delete(document.uri.toString());
      this.sending.delete(document.uri.toString());
      this.edits.delete(document.uri.toString());
      await next(document);
    },
  };

  async edit(request: DocumentEdit): Promise<DocumentEditResult> {
    const document = workspace.textDocuments.find((open) => open.uri.toString() === Uri.parse(request.uri).toString());
    if (!document) {
      return { applied: false, version: 0, dirty: false, reason: "the document is not open" };
    }
    if (document.version !== request.version) {
      return refusal(document, `the document is at version ${String(document.version)}, not ${String(request.version)}`);
    }
    const key = document.uri.toString();
    this.editing.add(key);
    try {
      return await this.make(document, request);
    } finally {
      this.editing.delete(key);
    }
  }

  /** Whether what is saved now is saved by the sidecar, not by the user's hand. */
  isEditing(uri: string): boolean {
    return this.editing.has(uri);
  }

  lastEdit(uri: string): { before: string; after: string } | undefined {
    return this.edits.get(uri);
  }

  /** Of a change of several files nothing is left when one of them cannot be saved: then there is nothing to tell. */
  private tellUnsaved(document: TextDocument): void {
    if (this.unsaved.get(document.uri.toString()) !== document.version || !document.isDirty) return;
    void say.warning(`${workspace.asRelativePath(document.uri)} was changed but could not be saved; the disk may be full. Its text is in the editor.`);
  }

  private async make(document: TextDocument, request: DocumentEdit): Promise<DocumentEditResult> {
    const key = document.uri.toString();
    const isOurs = this.unsaved.get(key) === document.version;
    this.unsaved.delete(key);
    const save = request.save && (!document.isDirty || isOurs); // what the user has not saved is theirs to save
    const before = document.getText();
    if (!(await apply(document, request.edits ?? []))) {
      return refusal(document, "VS Code did not apply the edit; the document changed meanwhile or is read-only");
    }
    this.edits.set(key, { before, after: document.getText() });
    const saved = !save || ((await hasRoom(document.uri.fsPath, mostBytes(document.getText()))) && (await document.save()));
    if (!saved) {
      this.unsaved.set(key, document.version);
      setTimeout(() => this.tellUnsaved(document), takenBackTime);
    }
    await this.report(document);
    return { ...state(document), ...(saved ? {} : { reason: "the edit was applied but could not be saved" }), applied: true };
  }

  private async afterSending(document: TextDocument, sent: Promise<void>): Promise<void> {
    const { version } = document;
    this.sending.set(document.uri.toString(), sent);
    await sent;
    await this.tell({ uri: document.uri.toString(), version, ...facts(document) });
  }

  /** Something other than the text changed: saved, or another encoding. */
  private async report(document: TextDocument): Promise<void> {
    const key = document.uri.toString();
    const sent = this.sending.get(key);
    if (!sent) {
      return; // not one that the sidecar follows
    }
    await sent;
    if (this.sending.get(key) === sent) {
      await this.tell({ uri: key, version: document.version, ...facts(document) });
    } // else a later change is on its way and tells this too
  }

  /** Notebooks and custom editors are no text documents; all that can be told of them is whether they are dirty. */
  private reportTab(tab: Tab, dirty: boolean): void {
    if (tab.input instanceof TabInputNotebook || tab.input instanceof TabInputCustom) {
      const { uri } = tab.input;
      if (uri.scheme === "file") {
        const rest = { encoding: "", eol: "\n", bom: false, readonly: false } as const;
        void this.tell({ uri: uri.toString(), version: 0, dirty, ...rest });
      }
    }
  }

  private async tell(state: DocumentState): Promise<void> {
    // A clean state is told again for a new version: who sees a change come in takes the document for dirty.
    const known = JSON.stringify({ ...state, version: state.dirty ? 0 : state.version });
    if (this.notify && this.told.get(state.uri) !== known) {
      this.told.set(state.uri, known);
      await this.notify(methods.documentState, state);
    }
  }
}

function facts(document: TextDocument): Omit<DocumentState, "uri" | "version"> {
  return {
    dirty: document.isDirty,
    ...encodingOf(document.encoding),
    eol: document.eol === EndOfLine.CRLF ? "\r\n" : "\n",
    readonly: !isWritable(document.uri),
  };
}

function isWritable(uri: Uri): boolean {
  try {
    accessSync(uri.fsPath, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** One undo step of its own, and only if VS Code still holds the version that the ranges were made for. */
async function apply(document: TextDocument, edits: readonly TextEdit[]): Promise<boolean> {
  const changes = edits.map(({ range, newText }) => ({
    range: new Range(range.start.line, range.start.character, range.end.line, range.end.character),
    newText,
  }));
  const editor = window.visibleTextEditors.find((visible) => visible.document === document);
  if (editor) {
    return editor.edit((builder) => changes.forEach(({ range, newText }) => builder.replace(range, newText)), { undoStopBefore: true, undoStopAfter: true });
  }
  const edit = new WorkspaceEdit();
  changes.forEach(({ range, newText }) => edit.replace(document.uri, range, newText));
  return workspace.applyEdit(edit);
}

function state(document: TextDocument): { version: number; dirty: boolean } {
  return { version: document.version, dirty: document.isDirty };
}

function refusal(document: TextDocument, reason: string): DocumentEditResult {
  return { applied: false, ...state(document), reason };
}
