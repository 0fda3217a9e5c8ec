// The addresses of what a dialog shows, and the tabs that show it. Each address carries its approval's id as its authority, so that a title
// button, a key or a closed tab leads back to the approval, and the path that VS Code prints is the file's own.

import { commands, type Tab, TabInputText, TabInputTextDiff, Uri, window } from "vscode";

/** The file as it is; read-only. */
export const original = "pillion-original";
/** What the agent proposes; the user may edit it. */
export const proposal = "pillion-proposal";
/** A command, an address or a text; read-only. */
export const page = "pillion-page";
/** A dialog that died while it was looked at; read-only and without buttons. */
export const ended = "pillion-ended";
/** What agents can call; read-only. */
export const tools = "pillion-tools";
/** What the doctor found; read-only. */
export const doctor = "pillion-doctor";

/** What setting an agent up would write; read-only. */
export const connect = "pillion-connect";

/** What a call came to: a side of its diff, or its output; read-only. */
export const shown = "pillion-shown";

/** A long question of an agent's; read-only. */
export const question = "pillion-question";

/** What the project's settings would loosen; read-only. */
export const trust = "pillion-trust";

/** A file as it was before an agent's changes, with what others wrote since; read-only. */
export const unchanged = "pillion-before";
/** What a revert would do; read-only. */
export const revert = "pillion-revert";
/** A file as it is, and as it would be after a revert; read-only. */
export const revertBefore = "pillion-revert-before";
export const revertAfter = "pillion-revert-after";

export function address(scheme: string, approvalId: string, name: string): Uri {
  const authority = Buffer.from(approvalId, "utf8").toString("hex"); // VS Code compares authorities without letter case
  return Uri.from({ scheme, authority, path: `/${name.replace(/^\/+/, "")}` });
}

export function approvalIdOf(uri: Uri | undefined): string | undefined {
  return uri && [original, proposal, page].includes(uri.scheme) ? Buffer.from(uri.authority, "hex").toString("utf8") : undefined;
}

/** The settings file that a page is about. */
export function trustedPathOf(uri: Uri | undefined): string | undefined {
  return uri?.scheme === trust ? Buffer.from(uri.authority, "hex").toString("utf8") : undefined;
}

/** Whether it shows what a revert would do. */
export function isRevert(uri: Uri | undefined): boolean {
  return uri !== undefined && [revert, revertBefore, revertAfter].includes(uri.scheme);
}

/** The file that a side of a diff shows, as in the preview. */
export function pathOf(uri: Uri): string {
  return uri.path.slice(1);
}

/** A place in a text: of a link in a hover `{uri, line}`, of the menu of a line number `{uri, lineNumber}` from 1, else the cursor's. */
export function placeOf(pressed: unknown): { uri: Uri; line: number } | undefined {
  if (typeof pressed !== "object" || pressed === null) {
    const editor = window.activeTextEditor;
    return editor && { uri: editor.document.uri, line: editor.selection.active.line };
  }
  const { uri, line, lineNumber } = pressed as Record<string, unknown>;
  const at = typeof line === "number" ? line : typeof lineNumber === "number" ? lineNumber - 1 : undefined;
  return at === undefined ? undefined : { uri: uri instanceof Uri ? uri : Uri.parse(String(uri)), line: at };
}

/** What a tab holds; of a diff, the side that can be edited, and of several diffs that of the first one. */
export function resourceOf(tab: Tab | undefined): Uri | undefined {
  const input: unknown = tab?.input;
  if (input instanceof TabInputTextDiff) {
    return input.modified;
  }
  if (typeof input === "object" && input !== null && "textDiffs" in input) {
    return (input.textDiffs as TabInputTextDiff[])[0]?.modified; // a class that VS Code has not put into its API yet
  }
  return input instanceof TabInputText ? input.uri : undefined;
}

export function tabsWith(condition: (uri: Uri, tab: Tab) => boolean): Tab[] {
  return window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => {
      const uri = resourceOf(tab);
      return uri !== undefined && condition(uri, tab);
    });
}

/** What is in front of each group. */
export function urisInFront(): Uri[] {
  return window.tabGroups.all.map(({ activeTab }) => resourceOf(activeTab)).filter((uri) => uri !== undefined);
}

/** A file before and after. */
export interface Pair {
  left: Uri;
  right: Uri;
}

/** In the active group, with the focus: VS Code has no other way. Its title buttons get the right side of the first file. */
export async function openStack(title: string, pairs: readonly Pair[]): Promise<void> {
  const resources = pairs.map(({ left, right }) => ({ originalUri: left, modifiedUri: right }));
  await commands.executeCommand("_workbench.openMultiDiffEditor", { title, multiDiffSourceUri: pairs[0]?.right, resources });
  await commands.executeCommand("workbench.action.keepEditor"); // else the next file that is looked at takes its place
}
