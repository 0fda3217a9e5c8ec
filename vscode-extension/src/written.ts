// What the user wrote into a question that died before they could answer it: it stays open as a document of their own, which
// nobody else has.

import { Range, type ViewColumn, window, workspace } from "vscode";
import type { Approval } from "./approvals";
import { endingOf } from "./request-page";
import { say } from "./notices";
import { ownText } from "./own-text";

export interface Written {
  text: string;
  language: string;
}

/** Of a commit's message, a plan and of proposals. */
export function written(approval: Approval): Written[] {
  const message = approval.isEdited && approval.message !== undefined ? [{ text: approval.message, language: ownText(approval.request.preview).language }] : [];
  const texts = [...approval.chosen.edited].map(([path, text]) => ({ text, language: approval.files.find((file) => file.path === path)?.language ?? "" }));
  return [...message, ...texts].filter(({ text }) => text.trim() !== "");
}

/** With the cursor at its end where the user was just writing. */
export async function keepOpen(texts: readonly Written[], outcome: string, viewColumn: ViewColumn, preserveFocus: boolean): Promise<void> {
  for (const { text, language } of texts) {
    const document = await workspace.openTextDocument({ content: text, ...(language ? { language } : {}) });
    const end = document.lineAt(document.lineCount - 1).range.end;
    await window.showTextDocument(document, { viewColumn, preserveFocus, preview: false, selection: new Range(end, end) });
  }
  if (texts.length > 0) {
    void say.warning(`${endingOf(outcome)}. What you wrote is kept as an untitled text.`);
  }
}
