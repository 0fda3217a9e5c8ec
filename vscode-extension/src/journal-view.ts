// The view “Changes”: what agents changed, newest first, by agent and turn, each change with its files below it.

import { commands, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { short, visible } from "./escape";
import { operationIcons } from "./hunks";
import { counts, isRevert, isRevertible, type Journal, notes, stateWords, type Turn, when } from "./journal";
import type { JournalEntry, JournalFile } from "./protocol";
import { Tree } from "./tree";

export type ChangeNode = { kind: "turn"; turn: Turn } | { kind: "change"; entry: JournalEntry } | { kind: "changedFile"; entry: JournalEntry; file: JournalFile };

/** The newest ones are unfolded. */
const turnsOpen = 3;

export class JournalView extends Tree<ChangeNode> {
  constructor(private readonly journal: Journal) {
    super("pillion.changes");
  }

  override refresh(): void {
    void commands.executeCommand("setContext", "pillion.hasChanges", this.journal.entries.length > 0);
    super.refresh();
  }

  protected below(node?: ChangeNode): ChangeNode[] {
    switch (node?.kind) {
      case undefined:
        return this.journal.turns.map((turn) => ({ kind: "turn", turn }));
      case "turn":
        return node.turn.entries.map((entry) => ({ kind: "change", entry }));
      case "change":
        return (node.entry.files ?? []).map((file) => ({ kind: "changedFile", entry: node.entry, file }));
      default:
        return [];
    }
  }

  getTreeItem(node: ChangeNode): TreeItem {
    switch (node.kind) {
      case "turn":
        return turnItem(node.turn, this.journal.turns.slice(0, turnsOpen).some(({ entries }) => entries[0] === node.turn.entries[0]));
      case "change":
        return changeItem(node.entry);
      default:
        return fileItem(node.entry, node.file);
    }
  }
}

function turnItem(all: Turn, recent: boolean): TreeItem {
  const { sessionId, agent, turn, prompt, entries } = all;
  const label = isRevert(all) ? "Reverts" : turnLabel(all);
  const item = new TreeItem(label, recent ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed);
  item.id = `${sessionId}\n${String(turn)}`;
  item.contextValue = entries.some(isRevertible) && !isRevert(all) ? "turn.revertible" : "turn";
  item.description = [entries.length === 1 ? "1 change" : `${String(entries.length)} changes`, prompt ? short(agent, 40) : when(entries[0]?.time ?? "", new Date()), ...notes(entries)].filter(Boolean).join(" · ");
  item.iconPath = new ThemeIcon(prompt ? "comment" : "history");
  item.tooltip = isRevert(all) ? "Reverts by you, or by Pillion because of your setting unusual. A revert can be reverted too." : [`What ${visible(agent)} changed in its turn ${String(turn)}${prompt ? `, for your prompt “${visible(prompt)}”` : ""}.`, ...notes(entries)].join("\n");
  return item;
}

/** `14:05 Mend the kettle`, or else whose and which it is. */
export function turnLabel({ agent, turn, prompt, entries }: Turn): string {
  return prompt ? `${when(entries.at(-1)?.time ?? "", new Date())} ${short(prompt, 80)}` : `${short(agent, 40)}, turn ${String(turn)}`;
}

function changeItem(entry: JournalEntry): TreeItem {
  const title = isRevert(entry) ? `Revert ${short((entry.paths ?? []).join(", "), 80)}` : short(entry.title || entry.tool, 100);
  const item = new TreeItem(title, TreeItemCollapsibleState.Collapsed);
  item.id = entry.id;
  item.contextValue = isRevertible(entry) ? (isRevert(entry) ? "revert.revertible" : "change.revertible") : "change";
  item.description = describe(entry);
  item.iconPath = icons[entry.state];
  item.tooltip = [title, `${visible(entry.agent.name)}, ${describe(entry)}`, visible(entry.why ?? ""), ...(entry.paths ?? []).map(visible)].filter(Boolean).join("\n");
  item.accessibilityInformation = { label: `${title}, ${describe(entry)}` };
  return item;
}

/** `+3 −1 · 14:05 · reverted`, or what else comes of it */
export function describe(entry: JournalEntry): string {
  return [counts(entry.files ?? []), when(entry.time, new Date()), stateWords[entry.state], ...notes([entry])].filter(Boolean).join(" · ");
}

function fileItem(entry: JournalEntry, file: JournalFile): TreeItem {
  const item = new TreeItem(visible(file.path.split("/").at(-1) ?? file.path));
  item.id = `${entry.id}\n${file.operation}\n${file.path}`;
  item.contextValue = "changedFile";
  item.description = [visible(file.path.split("/").slice(0, -1).join("/")), counts([file]), visible(file.note ?? "")].filter(Boolean).join(" ");
  item.tooltip = `${visible(file.operation)} ${visible(file.path)}`;
  item.iconPath = new ThemeIcon(operationIcons[file.operation] ?? "diff-modified");
  item.command = { title: "Open File", command: "pillion.openChanged", arguments: [{ kind: "changedFile", entry, file } satisfies ChangeNode] };
  return item;
}

const icons: Record<JournalEntry["state"], ThemeIcon> = {
  done: new ThemeIcon("edit"),
  undone: new ThemeIcon("circle-slash"),
  interrupted: new ThemeIcon("warning", new ThemeColor("list.warningForeground")),
  reverted: new ThemeIcon("discard", new ThemeColor("disabledForeground")),
  partly_reverted: new ThemeIcon("discard"),
};
