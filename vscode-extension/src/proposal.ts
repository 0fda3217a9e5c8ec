// The two sides of a diff that waits: the original, read-only, and the proposal, which the user may edit in place. The
// proposal is saved to memory after each change, so that closing its tab asks nothing, and it is never on any disk.

import {
  commands,
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  FilePermission,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  languages,
  type TextDocument,
  type Uri,
  window,
  workspace,
} from "vscode";
import { type Approval, type Approvals, ownText } from "./approvals";
import { sameText } from "./chosen";
import type { Pages } from "./pages";
import type { FilePreview } from "./protocol";
import { address, original, proposal } from "./schemes";

const formerKept = 20;

interface ProposedFile {
  /** What becomes of what the user writes; `older` as in Approval.edit. */
  write: (text: string, older: boolean) => void;
  /** What it is to show: what the agent proposes now and the user takes of it, or what they made of that. */
  after: string;
  /** What VS Code last saved. */
  bytes: Uint8Array;
  readonly: boolean;
  /** False from a change of `after` until an open editor shows it. */
  onShow: boolean;
  /** What was proposed before and may still come into an open editor, late. */
  former: readonly string[];
  ctime: number;
  mtime: number;
}

export class Proposals implements FileSystemProvider, Disposable {
  private readonly files = new Map<string, ProposedFile>();
  private readonly fileChanges = new EventEmitter<FileChangeEvent[]>();
  private readonly subscriptions: Disposable;
  private readonly toSave = new Set<TextDocument>();
  private saving: Promise<unknown> = Promise.resolve();
  readonly onDidChangeFile = this.fileChanges.event;

  constructor(
    private readonly approvals: Approvals,
    private readonly pages: Pages,
  ) {
    this.subscriptions = Disposable.from(
      workspace.registerFileSystemProvider(proposal, this, { isCaseSensitive: true }),
      workspace.onDidChangeTextDocument((event) => {
        if (event.document.uri.scheme === proposal && event.contentChanges.length > 0) {
          this.edited(event.document);
        }
      }),
      this.fileChanges,
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  added(approval: Approval): void {
    approval.texts.forEach((file) => this.put(approval, file));
  }

  changed(approval: Approval): void {
    this.added(approval);
  }

  /** Once the tabs are closed; until then VS Code may still read. */
  forget(approval: Approval): void {
    for (const file of approval.files) {
      this.pages.forget(address(original, approval.id, file.path));
      this.files.delete(address(proposal, approval.id, file.path).toString());
    }
    this.files.delete(messageAddress(approval).toString());
  }

  /** The message, for the user to write anew. */
  async readyMessage(approval: Approval): Promise<TextDocument> {
    const uri = messageAddress(approval);
    if (!this.files.has(uri.toString())) {
      const after = `${(approval.message ?? "").trimEnd()}\n`;
      const write = (text: string): void => this.approvals.writeMessage(approval.id, text);
      const now = Date.now();
      const bytes = Buffer.from(after, "utf8");
      this.files.set(uri.toString(), { write, after, bytes, readonly: false, former: [], onShow: true, ctime: now, mtime: now });
    }
    const document = await workspace.openTextDocument(uri, { encoding: "utf8" });
    const { language } = ownText(approval.request.preview);
    return document.languageId === language ? document : languages.setTextDocumentLanguage(document, language).then(undefined, () => document);
  }

  /** Opens both sides as UTF-8, whatever the user's `files.encoding` says of files on disk. */
  async ready(approval: Approval, file: FilePreview): Promise<{ left: Uri; right: Uri }> {
    const left = address(original, approval.id, file.path);
    const right = address(proposal, approval.id, file.path);
    await workspace.openTextDocument(right, { encoding: "utf8" });
    return { left, right };
  }

  stat(uri: Uri): FileStat {
    const file = this.find(uri);
    return {
      type: FileType.File,
      ctime: file.ctime,
      mtime: file.mtime,
      size: file.bytes.byteLength,
      ...(file.readonly ? { permissions: FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: Uri): Uint8Array {
    return this.find(uri).bytes;
  }

  writeFile(uri: Uri, content: Uint8Array): void {
    const file = this.find(uri);
    file.bytes = content;
    file.mtime += 1;
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  readonly createDirectory = refuse;
  readonly delete = refuse;
  readonly rename = refuse;

  private find(uri: Uri): ProposedFile {
    const file = this.files.get(uri.toString());
    if (!file) {
      throw FileSystemError.FileNotFound(uri);
    }
    return file;
  }

  private put(approval: Approval, file: FilePreview): void {
    const right = address(proposal, approval.id, file.path);
    const known = this.files.get(right.toString());
    const after = approval.chosen.right(file.path);
    this.pages.putText(address(original, approval.id, file.path), file.before);
    if (known?.after === after) {
      return;
    }
    const open = workspace.textDocuments.find((document) => document.uri.toString() === right.toString());
    this.files.set(right.toString(), {
      write: (text, older) => this.approvals.edit(approval.id, file.path, text, older),
      after,
      bytes: Buffer.from(after, "utf8"),
      readonly: file.operation === "delete",
      former: known && !known.onShow ? [...known.former, known.after].slice(-formerKept) : known ? [known.after] : [],
      onShow: open === undefined || sameText(open.getText(), after),
      ctime: known?.ctime ?? Date.now(),
      mtime: Math.max(Date.now(), (known?.mtime ?? 0) + 1),
    });
    this.fileChanges.fire([{ type: FileChangeType.Changed, uri: right }]);
  }

  private edited(document: TextDocument): void {
    const file = this.files.get(document.uri.toString());
    if (!file) {
      return;
    }
    const text = document.getText();
    const same = sameText(text, file.after);
    const older = !file.onShow && !same;
    if (older && file.former.some((former) => sameText(text, former))) {
      return; // VS Code is behind, as when somebody types in the file; the newest comes
    }
    file.onShow = true;
    file.after = text;
    file.write(text, older);
    if (document.isDirty && !this.toSave.has(document)) {
      this.toSave.add(document);
      this.saving = this.saving.then(() => this.saveNext(document)).catch(() => undefined);
    }
  }

  private async saveNext(document: TextDocument): Promise<void> {
    this.toSave.delete(document); // what is typed from now on is saved after this
    await (document.isClosed ? undefined : save(document));
  }
}

function refuse(uri: Uri): never {
  throw FileSystemError.NoPermissions(uri);
}

function messageAddress(approval: Approval): Uri {
  return address(proposal, approval.id, ownText(approval.request.preview).name);
}

/**
 * Without the user's formatters and trimmers where that can be said: they would eat what is being typed. VS Code says it
 * of the active editor only, so saves that lag behind the keys must not pile up: they would hit the editor that comes next.
 */
async function save(document: TextDocument): Promise<void> {
  if (window.activeTextEditor?.document === document) {
    await commands.executeCommand("workbench.action.files.saveWithoutFormatting");
  } else {
    await document.save();
  }
}
