// The read-only page on which a user decides about a revert of several files, or of one that does not fit as it was; and what is
// said afterwards. Pure: reverts.ts shows it.

import { visible } from "./escape";
import type { FilePreview, JournalReverted } from "./protocol";
import { type Page, Sheet } from "./sheet";

/** More of one file's diff only hides the other files. */
const diffShown = 40;

export function filesOf({ preview }: JournalReverted): readonly FilePreview[] {
  return preview?.kind === "diff" ? (preview.files ?? []) : [];
}

/** Whether a yes would change anything. */
export function changesAnything(result: JournalReverted): boolean {
  return filesOf(result).length > 0 || (result.reverted ?? []).length + (result.merged ?? []).length > 0;
}

/** The only file, when two texts side by side say it all. */
export function onlyDiff(result: JournalReverted): FilePreview | undefined {
  const [file, another] = filesOf(result);
  return file && !another && file.text && (result.conflicts ?? []).length === 0 ? file : undefined;
}

/** Whether several files side by side say it all. */
export function linesSayAll(result: JournalReverted): boolean {
  const files = filesOf(result);
  return files.length > 1 && files.every(({ text }) => text) && (result.merged ?? []).length + (result.conflicts ?? []).length === 0;
}

/** Its places are where a file's diff can be opened. */
export function revertPage(name: string, result: JournalReverted): Page {
  const sheet = new Sheet();
  const yes = changesAnything(result);
  sheet.line(yes ? `Revert ${name}?` : `Cannot be reverted: ${name}`, "heading");
  for (const file of filesOf(result)) {
    sheet.gap();
    if (file.text) {
      sheet.place(file.path);
    }
    fileLines(sheet, file, (result.merged ?? []).includes(file.path));
  }
  stays(sheet, result);
  sheet.gap();
  if (yes) {
    sheet.answer("Revert", "the files become as shown; you can undo this too");
  }
  sheet.answer("Close this tab", "nothing changes");
  return sheet.page();
}

function fileLines(sheet: Sheet, file: FilePreview, merged: boolean): void {
  sheet.line(fileLine(file), "rule");
  if (merged) {
    sheet.line(`  ${mergedWords}`, "warning");
  }
  file.facts.filter(({ code }) => code === "contents").forEach((fact) => sheet.fact(fact));
  if (file.text) {
    sheet.diff(file.diff, diffShown);
  }
}

export const mergedWords = "merged: later changes stay";

function fileLine(file: FilePreview): string {
  const path = file.name;
  switch (file.operation) {
    case "create":
    case "create_directory":
      return [`${path}   is restored`, visible(file.whole ?? "")].filter(Boolean).join(", ");
    case "delete":
      return `${path}   is deleted, because the agent created it`;
    case "move":
      return `${path}   moves back to ${visible(file.to ?? "")}`;
    default:
      return !file.text ? `${path}   ${file.summary}` : `${path}   +${String(file.additions)} -${String(file.deletions)}`; // a true minus sign would be marked as one that passes for another
  }
}

function stays(sheet: Sheet, { conflicts, reasons }: JournalReverted): void {
  if ((conflicts ?? []).length === 0) {
    return;
  }
  sheet.gap();
  sheet.line((conflicts ?? []).length === 1 ? "This file stays as it is:" : "These files stay as they are:", "warning");
  for (const path of conflicts ?? []) {
    sheet.line(`  ${visible(path)}`, "rule");
    sheet.line(`    ${visible(reasons?.[path] ?? "it was changed since")}`, "muted");
  }
}

/** `Reverted clock.py and 2 more; 1 merged with later changes; notes.md stays as it is: …` */
export function outcome(result: JournalReverted): string {
  const [reverted, merged, conflicts] = [result.reverted ?? [], result.merged ?? [], result.conflicts ?? []];
  const done = [...new Set([...reverted, ...merged])];
  const all = merged.length > 0 && done.every((path) => merged.includes(path));
  const stay = conflicts.slice(0, 2).map((path) => `${visible(path)} stays as it is: ${visible(result.reasons?.[path] ?? "it was changed since")}`);
  return [
    done.length > 0 ? `Reverted ${listed(done)}${all ? ", merged with later changes" : ""}` : "Nothing was reverted",
    ...(merged.length > 0 && !all ? [`${listed(merged)} ${merged.length === 1 ? "was" : "were"} merged with later changes`] : []),
    ...stay,
    ...(conflicts.length > 2 ? [`${String(conflicts.length - 2)} more ${conflicts.length === 3 ? "stays as it is" : "stay as they are"}`] : []),
  ].join("; ");
}

function listed(paths: readonly string[]): string {
  const [first = "", ...rest] = paths;
  return rest.length === 0 ? visible(first) : `${visible(first)} and ${String(rest.length)} more`;
}
