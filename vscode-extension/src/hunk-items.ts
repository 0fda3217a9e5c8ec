// Rows of the view for a proposal of which the human may take a part: a box for each file and each hunk.

import { MarkdownString, ThemeIcon, TreeItem, TreeItemCheckboxState } from "vscode";
import type { Approval } from "./approvals";
import { visible, visibleLines } from "./escape";
import { fileFate, noteOf } from "./file-words";
import { hunkSize, hunkTitle, yes } from "./hunk-words";
import type { Hunk } from "./hunks";
import type { FilePreview } from "./protocol";

/** More of a hunk is not shown under the mouse. */
const linesShown = 60;

export function hunkItem({ id, chosen }: Approval, { path }: FilePreview, hunk: Hunk): TreeItem {
  const item = new TreeItem(hunkTitle(hunk));
  item.id = `${id}\n${path}\n${hunk.id}`;
  item.description = [chosen.isStuck(path, hunk) ? "written over by you" : "", hunkSize(hunk)].filter(Boolean).join(" · ");
  item.tooltip = tooltip(hunk);
  item.checkboxState = box(chosen.takes(hunk));
  item.command = { title: "Show", command: "pillion.show", arguments: [id, path, hunk.id] };
  return item;
}

/** The box of a file's row. A file of which a part is taken has no tick, so that pressing it takes the rest: VS Code ticks it so by itself, too. */
export function tickFile(item: TreeItem, { chosen }: Approval, file: FilePreview): void {
  const path = chosen.key(file);
  const hunks = chosen.hunksOf(path);
  const taken = hunks.filter((hunk) => chosen.takes(hunk)).length;
  const note = chosen.edited.has(path) ? "edited by you" : "";
  const headers = hunks.filter(({ lines }) => lines.length === 0).map(({ header }) => visible(header));
  const words = [...(file.whole === undefined ? headers : [fileFate(file)]), noteOf(file)];
  if (chosen.isOpen && hunks.length > 0) {
    item.checkboxState = box(taken === hunks.length);
  }
  item.description = [note, String(item.description), ...words].filter(Boolean).join(" · ");
}

/** Says what a yes would be given for, and gives it. */
export function yesItem(approval: Approval): TreeItem {
  const item = new TreeItem(yes(approval));
  item.id = `yes ${approval.id}`; // which no path of a file can be
  if (!approval.chosen.isNothing) {
    item.iconPath = new ThemeIcon("check");
    item.command = { title: item.label as string, command: "pillion.approveInView", arguments: [{ kind: "approval", approval }] };
  }
  return item;
}

function box(ticked: boolean): NonNullable<TreeItem["checkboxState"]> {
  return { state: ticked ? TreeItemCheckboxState.Checked : TreeItemCheckboxState.Unchecked, tooltip: "Take it" };
}

function tooltip({ lines, header }: Hunk): MarkdownString {
  const shown = lines.slice(0, linesShown).flatMap(visibleLines);
  const more = lines.length > linesShown ? [`… and ${String(lines.length - linesShown)} lines more`] : [];
  return new MarkdownString().appendCodeblock([visible(header), ...shown, ...more].join("\n"), "diff");
}
