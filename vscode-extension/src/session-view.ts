// The view “Sessions”: a row for each agent, with what it did and what it may do; its sub-agents are below it. Those that are not
// connected are together below the others, folded.

import { ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import type { Approvals } from "./approvals";
import { short } from "./escape";
import type { SessionInfo } from "./session-protocol";
import { describe, details, type Standing, standing, standingWords } from "./session-words";
import type { Sessions } from "./sessions";
import { Tree } from "./tree";

export type SessionNode = { kind: "session"; session: SessionInfo } | { kind: "earlier" };

export class SessionView extends Tree<SessionNode> {
  constructor(
    private readonly sessions: Sessions,
    private readonly approvals: Approvals,
  ) {
    super("pillion.sessions");
  }

  /** One whose parent is not there stands by itself. */
  protected below(node?: SessionNode): SessionNode[] {
    const isChild = ({ parent }: SessionInfo): boolean => parent !== undefined && this.sessions.get(parent) !== undefined;
    const rows = (sessions: readonly SessionInfo[]): SessionNode[] => sessions.map((session) => ({ kind: "session", session }));
    switch (node?.kind) {
      case undefined: {
        const earlier: SessionNode[] = this.sessions.earlier.some((session) => !isChild(session)) ? [{ kind: "earlier" }] : [];
        return [...rows(this.sessions.connected.filter((session) => !isChild(session))), ...earlier];
      }
      case "earlier":
        return rows(this.sessions.earlier.filter((session) => !isChild(session)));
      case "session":
        return rows(this.childrenOf(node.session));
    }
  }

  private childrenOf({ sessionId }: SessionInfo): SessionInfo[] {
    return this.sessions.all.filter(({ parent }) => parent === sessionId);
  }

  getTreeItem(node: SessionNode): TreeItem {
    return node.kind === "earlier" ? earlierItem(this.below(node).length) : this.sessionItem(node.session);
  }

  private sessionItem(session: SessionInfo): TreeItem {
    const { sessionId, agent } = session;
    const how = standing(session, this.approvals.all.some(({ request }) => request.sessionId === sessionId));
    const hasChildren = this.childrenOf(session).length > 0;
    const item = new TreeItem(short(agent.name, 40), hasChildren ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
    item.id = sessionId;
    item.contextValue = `session.${how}`;
    item.description = describe(session, how, new Date());
    item.iconPath = icons[how];
    item.tooltip = details(session, how, new Date()).join("\n");
    item.accessibilityInformation = { label: `${short(agent.name, 40)}, ${standingWords[how] || "connected"}, ${item.description}` };
    return item;
  }
}

function earlierItem(count: number): TreeItem {
  const item = new TreeItem("Not connected", TreeItemCollapsibleState.Collapsed);
  item.id = "earlier";
  item.description = String(count);
  item.iconPath = new ThemeIcon("history");
  item.tooltip = "Agents that worked here before. What is kept of one is there for it when it comes back.";
  return item;
}

const icons: Record<Standing, ThemeIcon> = {
  connected: new ThemeIcon("vm-active", new ThemeColor("testing.iconPassed")),
  waiting: new ThemeIcon("bell-dot", new ThemeColor("list.warningForeground")),
  paused: new ThemeIcon("debug-pause", new ThemeColor("list.warningForeground")),
  gone: new ThemeIcon("debug-disconnect", new ThemeColor("disabledForeground")),
};
