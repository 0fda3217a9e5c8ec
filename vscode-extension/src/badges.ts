// Marks files in the Explorer that agents changed, until the user accepts the changes or they are undone.

import { Disposable, EventEmitter, FileDecoration, type FileDecorationProvider, ThemeColor, Uri, window } from "vscode";
import { short } from "./escape";
import type { Gutter } from "./gutter";
import type { Marks } from "./marks";

export class Badges implements FileDecorationProvider, Disposable {
  private readonly changes = new EventEmitter<Uri[]>();
  readonly onDidChangeFileDecorations = this.changes.event;
  private shown = new Set<string>();
  private readonly subscriptions: Disposable;

  constructor(
    private readonly marks: Marks,
    gutter: Gutter,
  ) {
    this.subscriptions = Disposable.from(window.registerFileDecorationProvider(this), gutter.onDidDraw(() => { this.refresh(); }), this.changes);
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  provideFileDecoration(uri: Uri): FileDecoration | undefined {
    const agents = new Set(this.marks.of(uri.toString()).map(({ by }) => short(by.agent, 40)));
    const words = `Changed by ${[...agents].join(", ")}, not accepted yet`;
    return agents.size === 0 ? undefined : new FileDecoration("◆", words, new ThemeColor("pillion.changedByAgent"));
  }

  private refresh(): void {
    const { shown } = this;
    this.shown = new Set(this.marks.uris);
    const differ = [...[...shown].filter((uri) => !this.shown.has(uri)), ...[...this.shown].filter((uri) => !shown.has(uri))];
    if (differ.length > 0) {
      this.changes.fire(differ.map((uri) => Uri.parse(uri)));
    }
  }
}
