// Which waiting approval lies in front, and where its editor opens. Nothing here takes the focus unless the user asked
// for it or has just answered another one, and nothing opens over the editor in which they may be typing: a dialog comes up beside
// it. One is in front at a time; when it is answered the next one follows, and any takes the place of one that died. What takes a place
// takes the focus too if it was there. A tab that the user closed stays closed until they ask for it.

import { setTimeout as sleep } from "node:timers/promises";
import { commands, Disposable, Range, TabInputTextDiff, type Uri, type ViewColumn, window, workspace } from "vscode";
import { type Approval, type ApprovalListener, type Approvals, inertMs, ownText } from "./approvals";
import { visible } from "./escape";
import { pathsOf, size } from "./hunks";
import { say } from "./notices";
import { addresses, type Pages } from "./pages";
import { LastInput, Place } from "./place";
import type { Proposals } from "./proposal";
import type { FilePreview } from "./protocol";
import { endingOf } from "./request-page";
import { approvalIdOf, ended, openStack, page, pathOf, proposal, resourceOf, tabsWith } from "./schemes";
import { TooSoon } from "./too-soon";

export class Front implements Partial<ApprovalListener>, Disposable {
  private readonly offered = new Set<string>();
  private inSight = new Set<string>();
  private active: string | undefined;
  private activeSince = 0;
  /** Those of which an editor is drawn. */
  private drawn = new Set<string>();
  private work: Promise<unknown> = Promise.resolve();
  private readonly place = new Place();
  private readonly lastInput = new LastInput();
  /** One that is not in sight is among them: it comes up with grey buttons. */
  private readonly tooSoon = new TooSoon("pillion.tooSoon", () => {
    const early = this.approvals.all.filter((approval) => !this.canBeAnswered(approval));
    return { addresses: early.flatMap(addresses), passes: early.some(({ id }) => this.inSight.has(id)) };
  });
  private readonly subscriptions: Disposable;

  constructor(
    private readonly approvals: Approvals,
    private readonly proposals: Proposals,
    private readonly pages: Pages,
    private readonly now: () => number,
  ) {
    this.subscriptions = Disposable.from(
      this.place,
      this.lastInput,
      this.tooSoon,
      window.tabGroups.onDidChangeTabs(() => this.look()),
      window.tabGroups.onDidChangeTabGroups(() => this.look()),
      window.onDidChangeVisibleTextEditors((editors) => this.draws(editors.map(({ document: { uri } }) => uri))),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Tabs that VS Code kept from an earlier life of this window: nobody waits for them any more. */
  async tidy(): Promise<void> {
    await window.tabGroups.close(tabsWith((uri) => approvalIdOf(uri) !== undefined || uri.scheme === ended), true);
  }

  /** The approval whose tab is the active one, for commands that come by key or from the palette. */
  get focused(): string | undefined {
    return this.active;
  }

  /** A key that was meant for another editor must not hit a dialog that has just got the focus. */
  get takesKeys(): boolean {
    return this.now() >= this.activeSince + inertMs;
  }

  /** When all that was to be opened is open. */
  async settled(): Promise<void> {
    await this.queue(() => Promise.resolve());
  }

  shows(id: string): boolean {
    return this.inSight.has(id);
  }

  added(): void {
    this.tooSoon.look();
    void this.queue(() => this.openNext());
  }

  changed(): void {
    this.look();
  }

  /** What the user answered makes room for the next; what died while they looked at it says so, if nothing else waits. */
  removed(approval: Approval, outcome: string): void {
    const seen = this.inSight.has(approval.id);
    const focused = this.active === approval.id;
    const answered = isAnswer(outcome);
    this.offered.delete(approval.id);
    const texts = answered ? [] : written(approval);
    void this.queue(async () => {
      if (seen && !answered && !this.waiting()) {
        await this.showEnded(approval, outcome);
      } else {
        await this.openNext();
      }
      await keepOpen(texts, outcome, this.place.column(), !focused);
      await this.close(approval);
      const wentOn = focused && (await leaveFocus());
      if (answered) {
        this.lastInput.is(focused && !wentOn ? "answer" : "other");
      }
      this.proposals.forget(approval);
    });
  }

  /** The user asked to see it. */
  async show(id: string, path?: string, hunkId?: string): Promise<boolean> {
    return this.queue(async () => {
      const approval = this.approvals.get(id);
      if (approval) {
        await this.open(approval, hunkId !== undefined, path, hunkId); // who goes through a list of hunks stays there
        await (path === undefined && approval.texts.length > 1 ? this.stack(approval) : undefined);
      }
      return approval !== undefined;
    });
  }

  /** The user wants to write its message anew: it opens over its page, with the focus. */
  async showMessage(id: string): Promise<void> {
    await this.queue(async () => {
      const approval = this.approvals.get(id);
      if (approval) {
        await window.showTextDocument(await this.proposals.readyMessage(approval), { viewColumn: this.place.column(), preview: false });
        this.look();
      }
    });
  }

  /** Brings the oldest one that the user has not closed to the front, unless one is there already. */
  private async openNext(): Promise<void> {
    const approval = this.waiting();
    if (approval && !this.approvals.all.some((other) => this.inSight.has(other.id))) {
      const { activeTab, viewColumn } = window.tabGroups.activeTabGroup;
      const inPlace = viewColumn === this.place.column();
      const follows = this.lastInput.wasAnswer;
      const replaces = resourceOf(activeTab)?.scheme === ended;
      await this.open(approval, inPlace || !follows);
      await (inPlace && (follows || replaces) ? handFocusOn() : undefined);
    }
  }

  private waiting(): Approval | undefined {
    const open = new Set(tabsWith(() => true).map((tab) => approvalIdOf(resourceOf(tab))));
    return this.approvals.all.find(({ id }) => !this.offered.has(id) || open.has(id));
  }

  private async open(approval: Approval, preserveFocus: boolean, path?: string, hunkId?: string): Promise<void> {
    this.offered.add(approval.id);
    const told = approval.files.some((candidate) => approval.chosen.key(candidate) === path && !candidate.text);
    const file = told ? undefined : (approval.texts.find((candidate) => candidate.path === path) ?? approval.texts[0]);
    const selection = file ? at(approval, file, hunkId) : this.pages.placeOf(approval, path);
    const options = { viewColumn: this.place.column(), preserveFocus, preview: false, ...(selection ? { selection } : {}) };
    if (file) {
      const { left, right } = await this.proposals.ready(approval, file);
      await this.opens(approval, commands.executeCommand("vscode.diff", left, right, diffTitle(approval, file.path), options));
    } else {
      const uri = await this.pages.ready(approval);
      await this.opens(approval, commands.executeCommand("vscode.open", uri, options));
    }
    await window.tabGroups.close(tabsWith((uri) => uri.scheme === ended), true);
    this.look();
  }

  /** Until it is open it takes no answer, also where it was in sight before. */
  private async opens(approval: Approval, opening: Thenable<unknown>): Promise<void> {
    const opened = approval.opens(opening);
    this.tooSoon.look();
    await opened;
  }

  /** All its files in one editor, in place of the first one's. */
  private async stack(approval: Approval): Promise<void> {
    const pairs = await Promise.all(approval.texts.map((file) => this.proposals.ready(approval, file)));
    await this.opens(approval, openStack(stackTitle(approval), pairs));
    await window.tabGroups.close(tabsWith((uri, tab) => tab.input instanceof TabInputTextDiff && approvalIdOf(uri) === approval.id), true);
    this.look();
  }

  private async showEnded(approval: Approval, outcome: string): Promise<void> {
    const uri = await this.pages.readyEnded(approval, outcome);
    await commands.executeCommand("vscode.open", uri, { viewColumn: this.place.column(), preserveFocus: true, preview: true });
  }

  private async close(approval: Approval): Promise<void> {
    for (const document of workspace.textDocuments) {
      if (approvalIdOf(document.uri) === approval.id && document.isDirty) {
        await document.save(); // to memory; a dirty tab would ask
      }
    }
    await window.tabGroups.close(tabsWith((uri) => approvalIdOf(uri) === approval.id), true);
  }

  /** A tab is there before its editor and its buttons are: of a busy window much sooner. The half second begins with both. */
  private draws(uris: readonly Uri[]): void {
    const drawn = new Set(uris.map((uri) => approvalIdOf(uri) ?? ""));
    [...drawn].filter((id) => !this.drawn.has(id)).forEach((id) => {
      const approval = this.approvals.get(id);
      if (approval) {
        appears(approval);
      }
    });
    this.drawn = drawn;
    this.tooSoon.look();
    uris.filter(({ scheme }) => scheme === proposal).forEach((uri) => this.approvals.see(approvalIdOf(uri) ?? "", pathOf(uri)));
  }

  /** A dialog that comes into sight takes no answer at first. */
  private look(): void {
    const inSight = new Set<string>();
    for (const group of window.tabGroups.all) {
      const uri = resourceOf(group.activeTab);
      const id = approvalIdOf(uri);
      if (uri && id !== undefined) {
        inSight.add(id);
        const approval = this.approvals.get(id);
        this.approvals.see(id, uri.scheme === page ? "" : pathOf(uri));
        if (approval && !this.inSight.has(id)) {
          appears(approval);
        }
      }
    }
    this.inSight = inSight;
    const active = approvalIdOf(resourceOf(window.tabGroups.activeTabGroup.activeTab));
    if (active !== this.active) {
      this.active = active;
      this.activeSince = this.now();
    }
    const shown = this.approvals.all.filter(({ id }) => inSight.has(id));
    void commands.executeCommand("setContext", "pillion.canRemember", shown.some(({ remembering }) => remembering.length > 0));
    void commands.executeCommand("setContext", "pillion.canSaveAndRun", shown.some(({ request, unsaved }) => request.preview.kind === "command" && unsaved.length > 0));
    void commands.executeCommand("setContext", "pillion.canEditCommand", shown.some(({ editableCommand }) => editableCommand !== undefined));
    this.tooSoon.look();
  }

  private canBeAnswered({ id, isArmed }: Approval): boolean {
    return this.inSight.has(id) && isArmed && (id !== this.active || this.takesKeys);
  }

  private queue<T>(step: () => Promise<T>): Promise<T> {
    const done = this.work.then(step);
    this.work = done.catch(() => undefined);
    return done;
  }
}

/**
 * Its half second is counted by the window as well as by the clock: a busy window draws the buttons late, and answers
 * round trips late too, so a press in the moment in which it drew them is not taken either.
 */
function appears(approval: Approval): void {
  approval.disarm();
  void approval.hold(windowTurns());
}

async function windowTurns(): Promise<void> {
  const turns = 5;
  for (let turn = 1; turn <= turns; turn++) {
    await sleep(inertMs / turns);
    await commands.executeCommand("setContext", "pillion.turn", turn);
  }
}

/** Where a hunk stands on the right side. */
function at({ chosen }: Approval, file: FilePreview, hunkId: string | undefined): Range | undefined {
  const hunk = chosen.hunksOf(file.path).find(({ id }) => id === hunkId);
  const line = hunk && chosen.place(file.path, hunk).start;
  return line === undefined ? undefined : new Range(line, 0, line, 0);
}

/**
 * Puts the focus into what is in front, if it was in an editor that closed; a terminal, a chat or a list keeps it. VS Code tells nobody where
 * the focus is, but looks itself when the groups are laid out anew.
 */
async function handFocusOn(): Promise<void> {
  await commands.executeCommand("vscode.setEditorLayout", await commands.executeCommand("vscode.getEditorLayout"));
}

/**
 * Where no editor is left, a terminal below is what they were in, as far as anybody can say. Gives whether the focus is there now, where
 * nobody hears what they type.
 */
async function leaveFocus(): Promise<boolean> {
  await handFocusOn();
  if (window.tabGroups.activeTabGroup.tabs.length > 0 || !window.activeTerminal) {
    return false;
  }
  await commands.executeCommand("workbench.action.navigateDown"); // from the editors, not from anywhere else
  return true;
}

function isAnswer(outcome: string): boolean {
  return ["approve", "remember", "amend", "reject", "discard", "cancel"].includes(outcome);
}

function diffTitle(approval: Approval, path: string): string {
  const { files, request, isReview, isDraft } = approval;
  const file = files.find((candidate) => candidate.path === path);
  const name = visible(path.split("/").at(-1) ?? path);
  const agent = visible(request.agent.name);
  const paths = pathsOf(files);
  const place = paths.length > 1 ? ` (${String(paths.indexOf(path) + 1)} of ${String(paths.length)})` : "";
  const deletes = file?.operation === "delete";
  if (deletes && !isReview && !isDraft) {
    return `Delete ${name}${place}? ${agent} proposes it`; // what comes last is cut off in a narrow tab
  }
  const what = [deletes ? "deleted" : file ? size([file]) : "", file?.merged ? "merged" : ""].filter(Boolean).join(", ");
  if (isDraft) {
    return `Draft of ${agent}: ${name}${place}, ${what}`;
  }
  return isReview ? `Review ${name}${place}: ${agent}, ${what}` : `${name}${place}: ${agent} proposes ${what}`;
}

/** VS Code adds how many files there are. */
function stackTitle({ files, request, isReview, isDraft }: Approval): string {
  const agent = visible(request.agent.name);
  if (isDraft) {
    return `Draft of ${agent}: ${size(files)}`;
  }
  return isReview ? `Review: ${agent}, ${size(files)}` : `${agent} proposes ${size(files)}`;
}

/** What the user wrote into a request that ended by itself: it stays open, as a document of their own. */
interface Written {
  text: string;
  language: string;
}

/** Of a commit's message, a plan, proposals and comments. */
function written(approval: Approval): Written[] {
  const message = approval.isEdited && approval.message !== undefined ? [{ text: approval.message, language: ownText(approval.request.preview).language }] : [];
  const texts = [...approval.chosen.edited].map(([path, text]) => ({ text, language: approval.files.find((file) => file.path === path)?.language ?? "" }));
  const comments = { text: approval.comments.map(({ path, line, text }) => `${path}:${String(line)}: ${text}`).join("\n"), language: "" };
  return [...message, ...texts, comments].filter(({ text }) => text.trim() !== "");
}

/** With the cursor at its end where the user was just writing. */
async function keepOpen(texts: readonly Written[], outcome: string, viewColumn: ViewColumn, preserveFocus: boolean): Promise<void> {
  for (const { text, language } of texts) {
    const document = await workspace.openTextDocument({ content: text, ...(language ? { language } : {}) });
    const end = document.lineAt(document.lineCount - 1).range.end;
    await window.showTextDocument(document, { viewColumn, preserveFocus, preview: false, selection: new Range(end, end) });
  }
  if (texts.length > 0) {
    void say.warning(`${endingOf(outcome)}. What you wrote is kept as an untitled text.`);
  }
}
