// Rows of the view for a proposal of which the user may take a part: a box for each file and each hunk.

import { MarkdownString, ThemeIcon, TreeItem, TreeItemCheckboxState } from "vscode";
import type { Approval } from "./approvals";
import { visible } from "./escape";
import { size } from "./files";
import { yesOf } from "./hunk-choice";
import { diffLines, type Hunk, isWhole } from "./hunks";
import type { FilePreview } from "./protocol";
import { share } from "./request-page";

/** More of a hunk is not shown under the mouse. */
const linesShown = 60;

export function hunkItem({ id, chosen }: Approval, { path }: FilePreview, hunk: Hunk): TreeItem {
  const item = new TreeItem(hunk.title);
  item.id = `${id}\n${path}\n${hunk.id}`;
  item.description = [chosen.isStuck(path, hunk) ? "you edited over it" : "", hunkSize(hunk)].filter(Boolean).join(" · ");
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
  if (chosen.isOpen && hunks.length > 0) {
    item.checkboxState = box(taken === hunks.length);
  }
  item.description = [note, String(item.description), file.summary].filter(Boolean).join(" · ");
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
  return { state: ticked ? TreeItemCheckboxState.Checked : TreeItemCheckboxState.Unchecked, tooltip: "Select it" };
}

/** `Approve 3 of 5`, or `Approve all 5`. */
function yes(approval: Approval): string {
  const { chosen } = approval;
  const all = chosen.all.length;
  return chosen.isNothing ? "Nothing is selected" : `${yesOf(approval)} ${share(chosen.taken.length, all) || `all ${String(all)}`}`;
}

/** `+1 −2` */
export function hunkSize(hunk: Hunk): string {
  return isWhole(hunk) ? "" : size([hunk]);
}

function tooltip(hunk: Hunk): MarkdownString {
  const lines = diffLines(hunk).map(visible);
  const more = lines.length > linesShown ? [`… and ${String(lines.length - linesShown)} more lines`] : [];
  return new MarkdownString().appendCodeblock([hunk.title, ...lines.slice(0, linesShown), ...more].join("\n"), "diff");
}
