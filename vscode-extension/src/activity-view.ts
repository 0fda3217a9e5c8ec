// The view “Activity”: what the agents did lately, newest first.

import { Disposable, EventEmitter, ThemeColor, ThemeIcon, TreeItem, type TreeDataProvider, window } from "vscode";
import { type Activity, duration } from "./activity";
import { short, visible } from "./escape";
import type { Journal } from "./journal";
import type { ActivityChanged } from "./protocol";

/** Many calls end in one moment; the tree is drawn at most this often. */
const redrawMs = 100;

export class ActivityView implements TreeDataProvider<ActivityChanged>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  private timer: NodeJS.Timeout | undefined;
  readonly onDidChangeTreeData = this.changes.event;
  private readonly registration = window.registerTreeDataProvider("pillion.activity", this);

  constructor(
    private readonly activity: Activity,
    private readonly journal: Journal,
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
    this.registration.dispose();
    this.changes.dispose();
  }

  refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changes.fire(undefined);
    }, redrawMs);
  }

  getChildren(entry?: ActivityChanged): ActivityChanged[] {
    return entry ? [] : [...this.activity.entries];
  }

  getTreeItem(entry: ActivityChanged): TreeItem {
    const item = new TreeItem(short(entry.title || entry.tool, 100));
    item.id = entry.callId;
    item.contextValue = this.journal.revertible(entry.callId) ? "call.revertible" : "call";
    item.description = [short(entry.summary, 120), duration(entry.durationMs), visible(entry.agent.name)].filter(Boolean).join(" · ");
    item.iconPath = icons[entry.state];
    item.tooltip = [entry.tool, visible(entry.title), visible(entry.summary), visible(entry.agent.name)].filter(Boolean).join("\n");
    item.accessibilityInformation = { label: `${entry.state}: ${short(entry.title || entry.tool, 100)}, ${short(entry.summary, 120)}` };
    return item;
  }
}

const icons: Record<ActivityChanged["state"], ThemeIcon> = {
  queued: new ThemeIcon("clock"),
  running: new ThemeIcon("loading~spin"),
  waiting: new ThemeIcon("bell-dot", new ThemeColor("list.warningForeground")),
  done: new ThemeIcon("check", new ThemeColor("testing.iconPassed")),
  failed: new ThemeIcon("error", new ThemeColor("testing.iconFailed")),
};
