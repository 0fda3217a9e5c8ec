// An agent moved a file that is open: its tab follows to the new place, where the cursor stood. One with unsaved changes keeps its
// text where it was, and VS Code marks it as deleted.

import { type Tab, TabInputText, Uri, window, workspace } from "vscode";
import type { ChangedFile } from "./protocol";
import { isRevert } from "./schemes";

export async function follow(files: readonly ChangedFile[]): Promise<void> {
  for (const { operation, uri, toUri } of files) {
    if (operation === "move" && toUri && (await exists(Uri.parse(toUri))) && !(await exists(Uri.parse(uri)))) {
      await followMove(Uri.parse(uri), Uri.parse(toUri));
    }
  }
}

async function exists(uri: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

async function followMove(from: Uri, to: Uri): Promise<void> {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  for (const tab of tabs) {
    const { input } = tab;
    const rest = input instanceof TabInputText ? below(input.uri, from) : undefined;
    if (input instanceof TabInputText && rest !== undefined && !tab.isDirty) {
      await reopen(tab, input.uri, to.with({ path: to.path + rest }));
    }
  }
}

/** What of the path is below the other one; empty if it is the same. */
function below(uri: Uri, folder: Uri): string | undefined {
  const inside = uri.scheme === folder.scheme && (uri.path === folder.path || uri.path.startsWith(`${folder.path}/`));
  return inside ? uri.path.slice(folder.path.length) : undefined;
}

/** VS Code opens a tab only in front, so the one that was in front comes back; where that is no plain file, the old tab stays. */
async function reopen(tab: Tab, from: Uri, to: Uri): Promise<void> {
  const { viewColumn, activeTab, isActive } = tab.group;
  const editor = window.visibleTextEditors.find((shown) => shown.viewColumn === viewColumn && shown.document.uri.toString() === from.toString());
  const focused = isActive && tab.isActive && window.activeTextEditor === editor;
  const front = tab.isActive ? undefined : activeTab;
  if (front && !(front.input instanceof TabInputText)) {
    return;
  }
  const selection = tab.isActive && editor ? { selection: editor.selection } : {};
  await window.showTextDocument(await workspace.openTextDocument(to), { viewColumn, preview: tab.isPreview, preserveFocus: !focused, ...selection });
  if (front?.input instanceof TabInputText && !isRevert(front.input.uri)) { // a preview that was answered is about to go
    await window.showTextDocument(front.input.uri, { viewColumn, preview: front.isPreview, preserveFocus: true });
  }
  await window.tabGroups.close(tab, true);
}
