// In which group of editors a request opens, never over a text that the user works in, and whether it gets the focus. What is done in a
// terminal, a chat or a list VS Code tells no extension, but that the user is at work again after a pause, and which tab and which terminal is
// in front.

import { Disposable, type Tab, TextEditorSelectionChangeKind, ViewColumn, window, workspace } from "vscode";
import { approvalIdOf, ended, resourceOf } from "./schemes";

export class Place implements Disposable {
  /** The text in front that the user put the cursor into, or typed in, since it came to the front. */
  private inUse: string | undefined;
  private readonly subscriptions = Disposable.from(
    window.onDidChangeActiveTextEditor(() => {
      this.inUse = undefined;
    }),
    window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
      if (kind !== undefined && kind !== TextEditorSelectionChangeKind.Command) {
        this.inUse = textEditor.document.uri.toString();
      }
    }),
  );

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Where requests lie already; else the group in use, if it is empty, shows the Welcome page, or the user wants that; else beside it. */
  column(): ViewColumn {
    const requests = window.tabGroups.all.find(({ activeTab }) => isRequest(activeTab));
    const { tabs, activeTab, viewColumn } = window.tabGroups.activeTabGroup;
    const inPlace = workspace.getConfiguration("pillion").get("requests.openIn") === "active" && resourceOf(activeTab)?.toString() !== this.inUse;
    return requests?.viewColumn ?? (tabs.length === 0 || isWelcome(activeTab) || inPlace ? viewColumn : ViewColumn.Beside);
  }
}

function isRequest(tab: Tab | undefined): boolean {
  const uri = resourceOf(tab);
  return approvalIdOf(uri) !== undefined || uri?.scheme === ended;
}

/** VS Code's API does not say what such a tab is. */
function isWelcome(tab: Tab | undefined): boolean {
  return tab?.input === undefined && /^(Welcome|Walkthrough)/.test(tab?.label ?? "");
}

/** Whether the last thing that the user did was to answer a request: the next one has the focus then. */
export class LastInput implements Disposable {
  /** What was in front when the answer was given; absent since anything else was done. */
  private answered: { tab: Tab | undefined } | undefined;
  private readonly subscriptions = Disposable.from(
    window.onDidChangeTextEditorSelection(({ kind }) => {
      if (kind !== undefined && kind !== TextEditorSelectionChangeKind.Command) {
        this.is("other");
      }
    }),
    window.onDidChangeActiveTerminal(() => this.is("other")),
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
