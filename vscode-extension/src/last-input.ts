// Whether the last thing that the user did was to answer a request: the next one has the focus then. What is done in a terminal, a chat or a
// list VS Code tells no extension, but that the user is at work again after a pause, and which tab and which terminal is in front.

import { Disposable, type Tab, TextEditorSelectionChangeKind, window } from "vscode";

export class LastInput implements Disposable {
  /** What was in front when the answer was given; absent since anything else was done. */
  private answered: { tab: Tab | undefined } | undefined;
  private readonly subscriptions = Disposable.from(
    window.onDidChangeTextEditorSelection(({ kind }) => {
      if (kind !== undefined && kind !== TextEditorSelectionChangeKind.Command) {
        this.is("other");
      }
    }),
    window.onDidChangeActiveTerminal(() => {
      this.is("other");
    }),
    window.onDidChangeWindowState(({ focused, active }) => {
      if (active || !focused) {
        this.is("other");
      }
    }),
  );

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Of an answer: once everything is where it left it. */
  is(what: "answer" | "other"): void {
    this.answered = what === "answer" ? { tab: inFront() } : undefined;
  }

  get wasAnswer(): boolean {
    return this.answered !== undefined && this.answered.tab === inFront();
  }
}

function inFront(): Tab | undefined {
  return window.tabGroups.activeTabGroup.activeTab;
}
