// The view “Activity”: what the agents did lately, newest first. A click opens what a call is about.

import { Disposable, EventEmitter, ThemeColor, ThemeIcon, TreeItem, type TreeDataProvider, window } from "vscode";
import { type Activity, duration, opens, outcomeOf } from "./activity";
import { showCalls } from "./activity-commands";
import type { ActivityChanged } from "./activity-protocol";
import { short, visible } from "./escape";
import { type Journal, when } from "./journal";
import type { Session } from "./session";

/** Many calls end in one moment; the tree is drawn at most this often. */
const redrawMs = 100;

export class ActivityView implements TreeDataProvider<ActivityChanged>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  private timer: NodeJS.Timeout | undefined;
  readonly onDidChangeTreeData = this.changes.event;
  private readonly registration: Disposable;

  constructor(
    private readonly activity: Activity,
    private readonly journal: Journal,
    session: () => Session,
  ) {
    this.registration = Disposable.from(window.registerTreeDataProvider("pillion.activity", this), showCalls(session));
  }

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
    const { state, problem } = entry;
    const title = short(entry.title || entry.tool, 100);
    const outcome = state === "waiting" ? "waiting for you" : short(outcomeOf(entry), 120);
    const item = new TreeItem(title);
    item.id = `${entry.sessionId}\n${entry.callId}`;
    item.contextValue = `call${this.journal.revertible(entry.callId) ? ".revertible" : ""}${problem ? ".problem" : ""}`;
    item.description = [outcome, when(entry.started, new Date()), duration(entry.durationMs), visible(entry.agent.name)].filter(Boolean).join(" · ");
    item.iconPath = problem ? problemIcon(problem.severity) : icons[state];
    item.tooltip = [visible(entry.title), outcome, opens(entry) ?? "", `${entry.tool}, ${visible(entry.agent.name)}`].filter(Boolean).join("\n");
    item.accessibilityInformation = { label: `${state}: ${title}, ${outcome}` };
    if (opens(entry) !== undefined) {
      item.command = { title: "Open", command: "pillion.openCall", arguments: [entry] };
    }
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

/** It was done, and broke something. */
function problemIcon(severity: number): ThemeIcon {
  return new ThemeIcon("warning", new ThemeColor(severity === 1 ? "list.errorForeground" : "list.warningForeground"));
}
