// The view “Waiting for you”: every approval, question and paused agent, with a badge that counts them. Of what may be taken in part, each
// file and each hunk has a box.

import { commands, MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCheckboxState, TreeItemCollapsibleState, window } from "vscode";
import type { Approval, Approvals } from "./approvals";
import { short, visible } from "./escape";
import { diffLines, type Hunk, hunkSize, isWhole, operationIcons } from "./hunks";
import { addresses } from "./pages";
import type { Prompt, Prompts } from "./prompts";
import type { FilePreview, SettingsUntrusted } from "./protocol";
import { particular, yes, yesOf, yesWords } from "./request-page";
import type { SessionInfo, SessionUnusual } from "./session-protocol";
import type { Sessions } from "./sessions";
import { Tree } from "./tree";
import type { Trust } from "./trust";
import { inShort, sentence, type Unusual } from "./unusual";

export type Entry =
  | { kind: "approval"; approval: Approval }
  | { kind: "file"; approval: Approval; file: FilePreview }
  | { kind: "hunk"; approval: Approval; file: FilePreview; hunk: Hunk }
  | { kind: "yes"; approval: Approval }
  | { kind: "reason"; approval: Approval; text: string; icon: string }
  | { kind: "prompt"; prompt: Prompt }
  | { kind: "unusual"; unusual: SessionUnusual }
  | { kind: "paused"; session: SessionInfo }
  | { kind: "untrusted"; untrusted: SettingsUntrusted };

export class WaitingView extends Tree<Entry> {
  constructor(
    private readonly approvals: Approvals,
    private readonly prompts: Prompts,
    private readonly sessions: Sessions,
    private readonly trust: Trust,
    private readonly unusual: Unusual,
  ) {
    super("pillion.waiting", { canSelectMany: true });
    this.tree.onDidChangeCheckboxState(({ items }) => {
      items.forEach(([entry, state]) => this.rows.pressed(entry, state));
      const [first] = items; // what follows from it, VS Code has put after it
      if (first) {
        this.tick(first[0], first[1] === TreeItemCheckboxState.Checked);
        super.refresh(); // also when nothing could be taken: then the box goes back
      }
    });
  }

  get count(): number {
    return this.approvals.all.length + this.prompts.all.length;
  }

  override refresh(): void {
    super.refresh();
    const { count } = this;
    void commands.executeCommand("setContext", "pillion.waits", count > 0);
    void commands.executeCommand("setContext", "pillion.severalWait", this.approvals.all.length > 1);
    tellMenus(this.approvals.all);
    const paused = this.sessions.paused.length;
    const parts = [count > 0 ? `${String(count)} waiting for your answer` : "", paused > 0 ? `${String(paused)} paused` : ""];
    this.tree.badge = count + paused > 0 ? { value: count + paused, tooltip: parts.filter(Boolean).join(", ") } : undefined;
  }

  protected below(entry?: Entry): Entry[] {
    if (!entry) {
      return [
        ...this.approvals.all.map(rowOf),
        ...this.prompts.all.map((prompt) => ({ kind: "prompt" as const, prompt })),
        ...this.unusual.all.map((unusual) => ({ kind: "unusual" as const, unusual })),
        ...this.sessions.paused.map((session) => ({ kind: "paused" as const, session })),
        ...this.trust.all.map((untrusted) => ({ kind: "untrusted" as const, untrusted })),
      ];
    }
    return entry.kind === "approval" ? details(entry.approval) : entry.kind === "file" ? hunksOf(entry.approval, entry.file) : [];
  }

  getParent(entry: Entry): Entry | undefined {
    if (entry.kind === "hunk" && entry.approval.files.length > 1) {
      return this.rows.known({ kind: "file", approval: entry.approval, file: entry.file });
    }
    return "approval" in entry && entry.kind !== "approval" ? this.rows.known(rowOf(entry.approval)) : undefined;
  }

  /** The user wants to choose: the list of this approval's hunks comes up, with the focus. */
  async choose(approval: Approval, path: string): Promise<void> {
    const file = approval.files.find((candidate) => candidate.path === path) ?? approval.files[0];
    const [hunk] = file ? hunksOf(approval, file) : [];
    await commands.executeCommand("pillion.waiting.focus");
    await this.tree.reveal(this.rows.known(hunk ?? rowOf(approval)), { select: true, focus: true, expand: true });
  }

  private tick(entry: Entry, on: boolean): void {
    if (entry.kind !== "file" && entry.kind !== "hunk") {
      return;
    }
    const { approval, file } = entry;
    const key = approval.chosen.key(file);
    const ids = entry.kind === "hunk" ? [entry.hunk.id] : approval.chosen.hunksOf(key).map(({ id }) => id);
    takeHunks(this.approvals, approval, key, ids, on);
  }

  getTreeItem(entry: Entry): TreeItem {
    switch (entry.kind) {
      case "approval":
        return approvalItem(entry.approval);
      case "file":
        return fileItem(entry.approval, entry.file);
      case "hunk":
        return hunkItem(entry.approval, entry.file, entry.hunk);
      case "yes":
        return yesItem(entry.approval);
      case "reason": {
        const item = new TreeItem(entry.text);
        item.id = `reason ${entry.approval.id}\n${entry.icon}\n${entry.text}`;
        item.iconPath = new ThemeIcon(entry.icon);
        item.tooltip = entry.text;
        return item;
      }
      case "prompt":
        return promptItem(entry.prompt);
      case "unusual":
        return unusualItem(entry.unusual, this.sessions.paused.some(({ sessionId }) => sessionId === entry.unusual.sessionId));
      case "paused":
        return pausedItem(entry.session);
      default:
        return untrustedItem(entry.untrusted);
    }
  }
}

function rowOf(approval: Approval): Entry {
  return { kind: "approval", approval };
}

/** Its files when there are several, then why it asks. */
function details(approval: Approval): Entry[] {
  const { files, note, request, chosen } = approval;
  return [
    ...(files.length > 1 ? files.map((file) => ({ kind: "file" as const, approval, file })) : files.flatMap((file) => hunksOf(approval, file))),
    ...(chosen.isOpen ? [{ kind: "yes" as const, approval }] : []),
    ...(note ? [{ kind: "reason" as const, approval, text: note, icon: "history" }] : []),
    ...[...new Set(particular(request.reasons).map(({ text }) => text))].map((text) => ({ kind: "reason" as const, approval, text, icon: "info" })),
  ];
}

/** Those that can be ticked: a single one is approved or not, and a file that is taken as a whole has its own box. */
function hunksOf(approval: Approval, file: FilePreview): Entry[] {
  const hunks = approval.chosen.hunksOf(approval.chosen.key(file)).filter((hunk) => !isWhole(hunk));
  return approval.chosen.isOpen ? hunks.map((hunk) => ({ kind: "hunk", approval, file, hunk })) : [];
}

function approvalItem(approval: Approval): TreeItem {
  const { request, files, chosen } = approval;
  const hasDetails = details(approval).length > 0;
  const expansion = files.length > 1 || chosen.isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
  const item = new TreeItem(short(rowTitle(approval) || request.title || request.tool, 120), hasDetails ? expansion : TreeItemCollapsibleState.None);
  item.id = approval.id;
  item.contextValue = approval.isReview ? "review" : approval.isDraft ? "approval.draft" : approval.remembering.length > 0 ? "approval.rememberable" : "approval";
  const merged = files.some((file) => file.merged) ? "merged" : "";
  item.description = [visible(request.agent.name), approval.texts.length > 0 ? chosen.size() : "", merged, approval.isEdited ? "edited by you" : ""].filter(Boolean).join(" · ");
  item.iconPath = new ThemeIcon(operationIcons[files.length === 1 ? (files[0]?.operation ?? "") : ""] ?? icons[request.preview.kind]);
  item.tooltip = approvalTooltip(approval);
  item.accessibilityInformation = { label: `${visible(request.agent.name)} wants to ${short(request.preview.deed, 200)}` };
  item.command = { title: "Show", command: "pillion.show", arguments: [approval.id] };
  return item;
}

const icons = { diff: "diff", review: "checklist", command: "terminal", url: "globe", text: "note", plan: "list-ordered" };

/** The subject says enough of an edit or a command, and too little of anything else; of a commit the title has the message. */
function rowTitle({ request: { preview, title }, files }: Approval): string {
  const isPlain = preview.kind === "command" || (preview.kind === "diff" && (files.length > 1 || files.every(({ text, operation }) => text && operation !== "delete")));
  return isPlain ? preview.subject : preview.kind === "text" && preview.message !== undefined ? title : preview.deed;
}

/** Plain: of an address in Markdown VS Code makes a link. */
function approvalTooltip({ request, remembering }: Approval): string {
  return [
    `${visible(request.agent.name)} wants to ${short(request.preview.deed, 2000)}`,
    ...particular(request.reasons).map(({ text }) => text),
    ...remembering.map(({ title, rule }) => `${visible(title)}: ${visible(rule ?? "")}`),
  ].join("\n\n");
}

function fileItem(approval: Approval, file: FilePreview): TreeItem {
  const hasHunks = hunksOf(approval, file).length > 0;
  const item = new TreeItem(visible(file.path.split("/").at(-1) ?? file.path), hasHunks ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
  item.id = `${approval.id}\n${approval.chosen.key(file)}`;
  item.description = `${visible(file.path.split("/").slice(0, -1).join("/"))} ${file.text ? approval.chosen.size([file]) : ""}`.trim();
  item.tooltip = file.deed;
  item.iconPath = new ThemeIcon(operationIcons[file.operation] ?? "diff-modified");
  item.command = { title: "Show", command: "pillion.show", arguments: [approval.id, approval.chosen.key(file)] };
  tickFile(item, approval, file);
  return item;
}

function promptItem(prompt: Prompt): TreeItem {
  const item = new TreeItem(short(prompt.message, 120));
  item.id = prompt.promptId;
  item.contextValue = "prompt";
  item.description = `${visible(prompt.agent.name)} asks`;
  item.iconPath = new ThemeIcon("question");
  item.tooltip = visible(prompt.message);
  item.command = { title: "Answer", command: "pillion.answerPrompt", arguments: [prompt.promptId] };
  return item;
}

function unusualItem(unusual: SessionUnusual, paused: boolean): TreeItem {
  const item = new TreeItem(`${short(unusual.agent.name, 40)} ${inShort[unusual.kind]}`);
  item.id = `unusual ${unusual.sessionId}`;
  item.contextValue = paused ? "unusual.paused" : "unusual";
  item.description = short(unusual.message, 240);
  item.iconPath = new ThemeIcon("warning", new ThemeColor("list.warningForeground"));
  item.tooltip = sentence(unusual);
  return item;
}

function pausedItem(session: SessionInfo): TreeItem {
  const item = new TreeItem(`${visible(session.agent.name)} is paused`);
  item.id = session.sessionId;
  item.contextValue = "paused";
  item.description = "until you resume it";
  item.iconPath = new ThemeIcon("debug-pause");
  item.tooltip = [visible(session.pauseReason ?? ""), "Its calls are rejected until you resume it."].filter(Boolean).join("\n");
  return item;
}

function untrustedItem({ path, rules }: SettingsUntrusted): TreeItem {
  const count = (rules ?? []).length;
  const item = new TreeItem("Trust the project's settings?");
  item.id = `untrusted ${path}`;
  item.contextValue = "untrusted";
  item.description = count === 1 ? "1 rule" : `${String(count)} rules`;
  item.iconPath = new ThemeIcon("workspace-untrusted");
  item.tooltip = visible(path);
  item.command = { title: "Show", command: "pillion.showUntrusted", arguments: [path] };
  return item;
}

/** More of a hunk is not shown under the mouse. */
const linesShown = 60;

function hunkItem({ id, chosen }: Approval, { path }: FilePreview, hunk: Hunk): TreeItem {
  const item = new TreeItem(hunk.title);
  item.id = `${id}\n${path}\n${hunk.id}`;
  item.description = [chosen.isStuck(path, hunk) ? "you edited over it" : "", hunkSize(hunk)].filter(Boolean).join(" · ");
  item.tooltip = tooltip(hunk);
  item.checkboxState = box(chosen.takes(hunk));
  item.command = { title: "Show", command: "pillion.show", arguments: [id, path, hunk.id] };
  return item;
}

/** The box of a file's row. A file of which a part is taken has no tick, so that pressing it takes the rest: VS Code ticks it so by itself, too. */
function tickFile(item: TreeItem, approval: Approval, file: FilePreview): void {
  const { chosen } = approval;
  const path = chosen.key(file);
  const hunks = chosen.hunksOf(path);
  const taken = hunks.filter((hunk) => chosen.takes(hunk)).length;
  const note = chosen.edited.has(path) ? "edited by you" : "";
  if (chosen.isOpen && hunks.length > 0) {
    item.checkboxState = box(taken === hunks.length);
  }
  item.description = [note, String(item.description), file.summary, approval.sees(file) ? "" : "not seen yet"].filter(Boolean).join(" · ");
}

/** Says what a yes would be given for, and gives it. */
function yesItem(approval: Approval): TreeItem {
  const item = new TreeItem(approval.chosen.isNothing ? "Nothing is selected" : yes(approval));
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

function tooltip(hunk: Hunk): MarkdownString {
  const lines = diffLines(hunk).map(visible);
  const more = lines.length > linesShown ? [`… and ${String(lines.length - linesShown)} more lines`] : [];
  return new MarkdownString().appendCodeblock([hunk.title, ...lines.slice(0, linesShown), ...more].join("\n"), "diff");
}

/** Says so if what the user wrote stands in the way. */
export function takeHunks(approvals: Approvals, { id }: Approval, path: string, ids: readonly string[], on: boolean): void {
  const stuck = approvals.take(id, path, ids, on);
  if (stuck > 0) {
    const which = stuck === 1 ? "a hunk stays as it is" : `${String(stuck)} hunks stay as they are`;
    window.setStatusBarMessage(`$(warning) Pillion: ${which}, because you wrote over ${stuck === 1 ? "it" : "them"}; change the text itself`, 6000);
  }
}

/** Tells the menus which tabs have a part to choose, of which one is chosen, and which only review. */
function tellMenus(approvals: readonly Approval[]): void {
  const tabs = (condition: (approval: Approval) => boolean): string[] => approvals.filter(condition).flatMap(addresses);
  void commands.executeCommand("setContext", "pillion.choosable", tabs(({ chosen }) => chosen.isOpen));
  void commands.executeCommand("setContext", "pillion.partlyTaken", tabs(({ chosen }) => !chosen.isWhole));
  void commands.executeCommand("setContext", "pillion.messages", tabs(({ message }) => message !== undefined));
  void commands.executeCommand("setContext", "pillion.reviews", tabs(({ isReview }) => isReview));
  void commands.executeCommand("setContext", "pillion.ownWords", tabs((approval) => yesWords.includes(yesOf(approval))));
  yesWords.forEach((word) => void commands.executeCommand("setContext", `pillion.says${word}`, tabs((approval) => yesOf(approval) === word)));
}
