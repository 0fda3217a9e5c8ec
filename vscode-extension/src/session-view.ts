// The view “Sessions”: a row for each agent, with what it did and what it may do; its sub-agents are below it. Those that are not
// connected are together below the others, folded. A draft is below its session, or by itself where that is not there any more.

import { ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import type { Approvals } from "./approvals";
import type { Drafts } from "./drafts";
import { short, visible } from "./escape";
import type { DraftFile, DraftInfo, SessionInfo } from "./session-protocol";
import { describe, details, draftFileWords, draftWords, type Standing, standing, standingWords } from "./session-words";
import type { Sessions } from "./sessions";
import { Tree } from "./tree";

export type SessionNode = { kind: "session"; session: SessionInfo } | { kind: "earlier" } | { kind: "draft"; draft: DraftInfo } | { kind: "draftFile"; draft: DraftInfo; file: DraftFile };

export class SessionView extends Tree<SessionNode> {
  constructor(
    private readonly sessions: Sessions,
    private readonly approvals: Approvals,
    private readonly drafts: Drafts,
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
        const alone = this.drafts.all.filter(({ sessionId }) => this.sessions.get(sessionId)?.connected !== true);
        return [...rows(this.sessions.connected.filter((session) => !isChild(session))), ...alone.map(draftRow), ...earlier];
      }
      case "earlier":
        return rows(this.sessions.earlier.filter((session) => !isChild(session)));
      case "session":
        return [...this.draftsOf(node.session), ...rows(this.childrenOf(node.session))];
      case "draft":
        return node.draft.files.map((file) => ({ kind: "draftFile", draft: node.draft, file }));
      case "draftFile":
        return [];
    }
  }

  private draftsOf({ sessionId, connected }: SessionInfo): SessionNode[] {
    const draft = connected ? this.drafts.of(sessionId) : undefined;
    return draft ? [draftRow(draft)] : [];
  }

  private childrenOf({ sessionId }: SessionInfo): SessionInfo[] {
    return this.sessions.all.filter(({ parent }) => parent === sessionId);
  }

  getTreeItem(node: SessionNode): TreeItem {
    switch (node.kind) {
      case "earlier":
        return earlierItem(this.below(node).length);
      case "session":
        return this.sessionItem(node.session);
      case "draft":
        return draftItem(node.draft, this.sessions.get(node.draft.sessionId)?.connected !== true);
      case "draftFile":
        return draftFileItem(node.draft, node.file);
    }
  }

  private sessionItem(session: SessionInfo): TreeItem {
    const { sessionId, agent } = session;
    const how = standing(session, this.approvals.all.some(({ request }) => request.sessionId === sessionId));
    const hasChildren = this.childrenOf(session).length + this.draftsOf(session).length > 0;
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

function draftRow(draft: DraftInfo): SessionNode {
  return { kind: "draft", draft };
}

function draftItem(draft: DraftInfo, isAlone: boolean): TreeItem {
  const item = new TreeItem(draftWords(draft), TreeItemCollapsibleState.Collapsed);
  item.id = `draft ${draft.sessionId}`;
  item.contextValue = "draft";
  item.description = isAlone ? `${short(draft.agent, 40)}, whose session is over` : "";
  item.iconPath = new ThemeIcon("git-pull-request-draft");
  item.tooltip = "Nobody else sees it until you apply it.";
  return item;
}

function draftFileItem({ sessionId }: DraftInfo, file: DraftFile): TreeItem {
  const item = new TreeItem(visible(file.path.split("/").at(-1) ?? file.path));
  item.id = `draft ${sessionId}\n${file.path}\n${file.kind}`;
  item.description = draftFileWords(file);
  item.iconPath = new ThemeIcon(fileIcons[file.kind] ?? "diff-modified");
  item.tooltip = `${visible(file.path)}: ${file.kind}`;
  return item;
}

const fileIcons: Readonly<Record<string, string>> = { created: "diff-added", deleted: "diff-removed", moved: "diff-renamed" };

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
