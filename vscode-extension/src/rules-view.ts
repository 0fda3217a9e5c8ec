// The view “Rules”: what you had remembered for this workspace and for each agent's session, to forget it, and what your settings and
// the project's say. The sidecar reports all of it (`rules/changed`, `session/changed`).

import { basename } from "node:path";
import { commands, Range, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, Uri, window, workspace } from "vscode";
import { short, visible } from "./escape";
import { methods, type SettingsUntrusted } from "./protocol";
import type { Session } from "./session";
import type { ListedRule, RulesChanged, RulesForget } from "./session-protocol";
import type { Sessions } from "./sessions";
import { Tree } from "./tree";

type Rule = ListedRule & { sessionId?: string };

export type RuleNode = { kind: "group"; id: string; title: string; note: string; below: RuleNode[] } | { kind: "rule"; rule: Rule } | { kind: "uncounted"; line: string; of: SettingsUntrusted };

const none: RulesChanged = { rules: [], untrusted: [] };

export class RulesView extends Tree<RuleNode> {
  private known = none;

  constructor(
    private readonly session: () => Session,
    private readonly sessions: Sessions,
  ) {
    super("pillion.rules");
  }

  hear(rules: RulesChanged): void {
    this.known = rules;
    this.refresh();
  }

  /** The sidecar is gone, and says all of it again when it is back. */
  end(): void {
    this.known = none;
  }

  /** The project's settings that do not count because they are not trusted, ignored ones too. */
  untrusted(path: string | undefined): SettingsUntrusted | undefined {
    return this.known.untrusted.find((one) => path === undefined || one.path === path);
  }

  /** Only what allows less can be done here, so nothing asks again. */
  async forget({ rule, folder, sessionId }: Rule): Promise<void> {
    await (sessionId === undefined ? this.session().request(methods.rulesForget, { folder: folder ?? "", rule } satisfies RulesForget) : this.sessions.revoke(sessionId, rule));
    window.setStatusBarMessage(`$(check) Pillion: agents ask again for ${short(rule, 60)}`, 4000);
  }

  protected below(node?: RuleNode): RuleNode[] {
    return node ? (node.kind === "group" ? node.below : []) : [...this.remembered(), ...this.inSettings()].filter(({ below }) => below.length > 0);
  }

  private remembered(): (RuleNode & { kind: "group" })[] {
    const sessions = [...this.sessions.connected, ...this.sessions.earlier].map(({ sessionId, agent, grants, connected }) => {
      const rules = (grants ?? []).map((rule) => ({ kind: "rule" as const, rule: { effect: "allow", rule, from: "remembered", sessionId } }));
      return group(`session ${sessionId}`, short(agent.name, 40), connected ? "remembered for this session" : "remembered for its session, not connected", rules);
    });
    return [...this.folders("remembered").map((folder) => group(`remembered ${folder}`, this.nameOf(folder, "This workspace"), "remembered", this.rulesOf("remembered", folder))), ...sessions];
  }

  private inSettings(): (RuleNode & { kind: "group" })[] {
    const files = [...new Set([...this.known.rules.filter(({ from }) => from === "project").map(({ file }) => file), ...this.known.untrusted.map(({ path }) => path)])];
    const projects = files.map((file) => {
      const lines = this.known.untrusted.filter(({ path }) => path === file).flatMap((of) => (of.rules ?? []).map((line) => ({ kind: "uncounted" as const, line, of })));
      const rules = this.known.rules.filter((rule) => rule.from === "project" && rule.file === file).map((rule) => ({ kind: "rule" as const, rule }));
      return group(`project ${file ?? ""}`, "The project's settings", files.length > 1 ? visible(file ?? "") : "", [...rules, ...lines]);
    });
    return [group("user", "Your settings", "", this.rulesOf("user")), ...projects];
  }

  private rulesOf(from: string, folder?: string): RuleNode[] {
    return this.known.rules.filter((rule) => rule.from === from && (folder === undefined || rule.folder === folder)).map((rule) => ({ kind: "rule", rule }));
  }

  private folders(from: string): string[] {
    return [...new Set(this.known.rules.flatMap((rule) => (rule.from === from ? [rule.folder ?? ""] : [])))];
  }

  private nameOf(folder: string, only: string): string {
    return (workspace.workspaceFolders?.length ?? 0) > 1 ? visible(basename(folder)) : only;
  }

  getTreeItem(node: RuleNode): TreeItem {
    switch (node.kind) {
      case "group":
        return groupItem(node);
      case "rule":
        return ruleItem(node.rule);
      case "uncounted":
        return uncountedItem(node);
    }
  }
}

function group(id: string, title: string, note: string, below: RuleNode[]): RuleNode & { kind: "group" } {
  return { kind: "group", id, title, note, below };
}

function groupItem({ id, title, note }: RuleNode & { kind: "group" }): TreeItem {
  const item = new TreeItem(title, TreeItemCollapsibleState.Expanded);
  item.id = id;
  item.description = note;
  return item;
}

const icons: Record<string, ThemeIcon> = {
  allow: new ThemeIcon("pass", new ThemeColor("testing.iconPassed")),
  ask: new ThemeIcon("question"),
  deny: new ThemeIcon("circle-slash", new ThemeColor("list.errorForeground")),
};

function ruleItem(rule: Rule): TreeItem {
  const item = new TreeItem(visible(rule.rule));
  const isRemembered = rule.from === "remembered";
  item.id = JSON.stringify([rule.effect, rule.from, rule.folder, rule.sessionId, rule.rule]);
  item.contextValue = isRemembered ? "rule.remembered" : "rule";
  item.description = [isRemembered ? "" : (does[rule.effect] ?? ""), rule.since ? `since ${new Date(rule.since).toLocaleDateString()}` : "", short(rule.why ?? "", 80)].filter(Boolean).join(" · ");
  item.iconPath = icons[rule.effect] ?? "";
  item.tooltip = [visible(rule.rule), isRemembered ? "Its calls run without asking. Forget it, and they ask again." : visible(rule.why ?? "")].filter(Boolean).join("\n");
  item.accessibilityInformation = { label: `${visible(rule.rule)}, ${item.description}` };
  return Object.assign(item, isRemembered ? {} : { command: { title: "Open Settings", command: "pillion.openRule", arguments: [rule] } });
}

const does: Record<string, string> = { allow: "runs", ask: "asks", deny: "denied" };

function uncountedItem({ line, of }: RuleNode & { kind: "uncounted" }): TreeItem {
  const item = new TreeItem(visible(line));
  item.id = `uncounted ${of.path}\n${line}`;
  item.description = "does not count: not trusted";
  item.iconPath = new ThemeIcon("workspace-untrusted", new ThemeColor("disabledForeground"));
  item.tooltip = "It counts only once you trust the project's settings.";
  item.command = { title: "Show", command: "pillion.showUntrusted", arguments: [of.path] };
  return item;
}

/** The file of settings, or VS Code's own where that has the rule. */
export async function openRule({ rule, from, file }: ListedRule): Promise<void> {
  const quoted = JSON.stringify(rule);
  if (from === "user" && JSON.stringify(workspace.getConfiguration("pillion").get("permissions") ?? {}).includes(quoted)) {
    await commands.executeCommand("workbench.action.openSettings", "pillion.permissions");
    return;
  }
  const document = await workspace.openTextDocument(Uri.file(file ?? ""));
  const at = Math.max(0, document.getText().indexOf(quoted));
  await window.showTextDocument(document, { selection: new Range(document.positionAt(at), document.positionAt(at + quoted.length)) });
}
