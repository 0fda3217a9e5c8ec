// The approvals that wait for this user: what is on show, what they edited, whether an answer counts yet. Pure: the
// clock comes in, nothing here knows VS Code. An answer is taken once, never within `inertMs` of what it answers, and
// closing anything is none. What the dialogs look like is not decided here, but for the names of a text that is the user's own.

import { Chosen } from "./chosen";
import { visible } from "./escape";
import type { ApprovalAnswer, ApprovalChanged, ApprovalDecision, ApprovalRequest, FilePreview, LineComment, Preview } from "./protocol";

/** A dialog that has just appeared, moved to the front or changed takes no answer for this long. */
export const inertMs = 500;

export class Approval {
  /** `updated` or `moved` after the text beneath changed, `conflict` while the user's own edit rests on the older text. */
  beneath: "unchanged" | "updated" | "moved" | "conflict" = "unchanged";
  private selection: Chosen;
  private ownMessage: string | undefined;
  private pending: ApprovalChanged | undefined;
  private previous: { shown: ApprovalRequest; selection: Chosen } | undefined;
  private armedAt: number;
  private held = 0;
  private readonly seen = new Set<string>();
  private written: readonly LineComment[] = [];

  constructor(
    private shown: ApprovalRequest,
    private readonly now: () => number,
    private readonly settle: (answer: ApprovalAnswer) => void,
    readonly abandon: (outcome: string) => void,
  ) {
    this.armedAt = now() + inertMs;
    this.selection = new Chosen(this.files);
  }

  get id(): string {
    return this.shown.approvalId;
  }

  get request(): Readonly<ApprovalRequest> {
    return this.shown;
  }

  get files(): readonly FilePreview[] {
    return "files" in this.shown.preview ? (this.shown.preview.files ?? []) : [];
  }

  /** Those that are two texts side by side; the others are told on its page. */
  get texts(): readonly FilePreview[] {
    return this.files.filter(({ text }) => text);
  }

  get hasPage(): boolean {
    return this.files.length === 0 || this.texts.length < this.files.length;
  }

  /** What of it the user takes. */
  get chosen(): Chosen {
    return this.selection;
  }

  /** A patch that an agent shows: whatever is answered, no file changes by it. */
  get isReview(): boolean {
    return this.shown.preview.kind === "review" && !this.isDraft;
  }

  /** What is in an agent's draft, to be applied. */
  get isDraft(): boolean {
    return "draft" in this.shown.preview && (this.shown.preview.draft ?? false);
  }

  get comments(): readonly LineComment[] {
    return this.written;
  }

  /** Whether there are lines of a change that the user may comment on. */
  get isCommentable(): boolean {
    return (this.shown.preview.kind === "diff" || this.isDraft) && this.texts.length > 0;
  }

  get isEdited(): boolean {
    return this.writes || this.ownMessage !== undefined;
  }

  /** Whether they wrote into a file's text, which rests on what lies beneath. */
  private get writes(): boolean {
    return this.selection.edited.size > 0;
  }

  /** What is said of it, as the user has it now; undefined where there is nothing that they may write anew. */
  get message(): string | undefined {
    return this.ownMessage ?? this.agentsMessage;
  }

  private get agentsMessage(): string | undefined {
    return agentsText(this.shown.preview, this.shown.arguments ?? {});
  }

  get isArmed(): boolean {
    return this.held === 0 && this.now() >= this.armedAt;
  }

  /** What the user should know of what lies beneath; that a command's files were saved is nothing new to them. */
  get note(): string | undefined {
    return this.beneath === "moved" && this.files.length === 0 ? undefined : beneathNotes[this.beneath];
  }

  /** Whether all of it was on the screen, as it is now: a yes from a list counts for nothing else. */
  get wasSeen(): boolean {
    return (!this.hasPage || this.seen.has("")) && this.texts.every((file) => this.sees(file));
  }

  sees({ text, path }: FilePreview): boolean {
    return this.seen.has(text ? path : "");
  }

  /** Files of which a command would not see, or a commit not hold, the unsaved text. */
  get unsaved(): readonly string[] {
    return "unsaved" in this.shown.preview ? (this.shown.preview.unsaved ?? []) : [];
  }

  /** The choices that are remembered, each with the rule that would be saved. */
  get remembering(): readonly ApprovalDecision[] {
    return (this.shown.decisions ?? []).filter((decision) => decision.scope !== "once");
  }

  /** The command line that the user may write anew; undefined where there is none, or one that a single line would not show whole. */
  get editableCommand(): string | undefined {
    const { preview, arguments: given } = this.shown;
    const command = preview.kind === "command" && typeof given === "object" && given !== null && "command" in given ? given.command : undefined;
    return typeof command === "string" && visible(command) === command ? command : undefined;
  }

  /** Its page, or the proposal for one of its files, is on the screen. Gives whether it is so for the first time. */
  see(path = ""): boolean {
    return this.seen.size < this.seen.add(path).size;
  }

  disarm(): void {
    this.armedAt = this.now() + inertMs;
  }

  /** No answer counts until this has passed, whatever the clock says. */
  hold<T>(until: PromiseLike<T>): Promise<T> {
    this.held++;
    return Promise.resolve(until).finally(() => {
      this.held--;
    });
  }

  /** However long it takes until it is on the screen: the half second begins then. */
  opens<T>(opening: PromiseLike<T>): Promise<T> {
    return this.hold(opening).finally(() => this.disarm());
  }

  /**
   * The user's text for one file, or undefined when it equals what is shown without them. `older` when they typed into
   * the text that a change was just about to replace.
   */
  edit(path: string, text: string | undefined, older = false): void {
    const wasEdited = this.writes;
    this.selection.write(path, text);
    if (this.selection.edited.has(path)) {
      if (older) {
        this.stepBack();
      }
    } else if (wasEdited) {
      this.settleDown();
    }
  }

  comment(comment: LineComment): void {
    this.written = [...this.written, comment].flatMap((one) => this.placed(one));
  }

  uncomment(comment: LineComment): void {
    this.written = this.written.filter((other) => other !== comment);
  }

  /** The user's own message; that which the agent wrote is none. */
  writeMessage(text: string): void {
    this.ownMessage = this.agentsMessage === undefined || text.trimEnd() === this.agentsMessage.trimEnd() ? undefined : text.trimEnd();
  }

  /** Gives how many hunks could not be ticked or unticked, because of what the user wrote. */
  take(path: string, ids: readonly string[], on: boolean): number {
    const wasEdited = this.writes;
    const stuck = this.selection.take(path, ids, on).length;
    this.previous = undefined; // whatever is typed from here on is typed into this choice
    if (wasEdited) {
      this.settleDown();
    }
    return stuck;
  }

  /**
   * The text beneath changed. A user's own edit stays on show with the text and the digest that it rests on: the
   * sidecar merges an answer to an older digest and shows the result again.
   */
  change(changed: ApprovalChanged): void {
    this.disarm();
    if (!this.writes) {
      this.adopt(changed);
      return;
    }
    [this.pending, this.beneath] = [changed, "conflict"];
  }

  answer(choice: Choice): Exclude<Verdict, "changed" | "gone"> {
    // What was typed into a box of its own no stray key did, and it must not be lost.
    const deliberate = choice.kind === "amend" || choice.kind === "discard" || (choice.kind === "approve" && choice.saved === true) || (choice.kind === "reject" && choice.feedback !== undefined);
    if (!this.isArmed && !deliberate) {
      return "too-soon";
    }
    if (["approve", "remember"].includes(choice.kind) && this.selection.isNothing) {
      return "nothing";
    }
    if (["approve", "remember"].includes(choice.kind) && this.ownMessage?.trim() === "") {
      return "no-message";
    }
    if (["approve", "remember"].includes(choice.kind) && this.written.length > 0 && !this.isDraft) {
      return "commented";
    }
    this.settle(this.answerFor(choice));
    return "taken";
  }

  /** Nothing of the user's own rests on an older text any more. */
  private settleDown(): void {
    if (!this.writes && this.pending) {
      const { pending } = this;
      this.pending = undefined;
      this.adopt(pending);
    }
  }

  private stepBack(): void {
    if (this.previous) {
      const { reasons, preview, digest } = this.shown;
      this.pending = { approvalId: this.id, digest, reasons, preview, moved: this.beneath === "moved" };
      const written = this.selection.edited;
      ({ shown: this.shown, selection: this.selection } = this.previous);
      written.forEach((text, path) => this.selection.write(path, text));
      this.previous = undefined;
      this.beneath = "conflict";
    }
  }

  private adopt(changed: ApprovalChanged): void {
    this.previous = { shown: this.shown, selection: this.selection };
    this.shown = { ...this.shown, reasons: changed.reasons, preview: changed.preview, digest: changed.digest };
    this.selection = new Chosen(this.files, this.selection);
    this.written = this.written.flatMap((comment) => this.placed(comment));
    this.seen.clear();
    this.beneath = changed.moved ? "moved" : "updated";
    this.disarm();
  }

  /** On the last line where there are fewer now; nowhere when the file is no part of it any more. */
  private placed(comment: LineComment): LineComment[] {
    const file = this.isCommentable ? this.texts.find(({ path }) => path === comment.path) : undefined;
    const lines = file?.after.replace(/\n$/, "").split("\n").length ?? 0;
    return !file ? [] : comment.line <= lines ? [comment] : [{ ...comment, line: lines }];
  }

  private answerFor(choice: Choice): ApprovalAnswer {
    const { digest } = this.shown;
    const offered = this.shown.decisions ?? [];
    const comments = this.written.length > 0 ? { comments: [...this.written] } : {};
    switch (choice.kind) {
      case "reject":
        return { decision: "reject", ...(offered.some(({ id }) => id === "reject") ? { decisionId: "reject" } : {}), digest, ...(choice.feedback ? { feedback: choice.feedback } : {}), ...comments };
      case "discard":
        return { decision: "reject", decisionId: "discard", digest };
      case "cancel":
        return { decision: "cancel", digest };
      case "amend":
        return { decision: "edit", modifiedArguments: { ...(this.shown.arguments as object), command: choice.command }, digest };
      default:
        return { ...this.consent(choice.kind === "remember" ? choice.decisionId : offered.find(({ scope, id }) => scope === "once" && !["reject", "cancel"].includes(id))?.id), ...comments };
    }
  }

  private consent(decisionId: string | undefined): ApprovalAnswer {
    const { digest } = this.shown;
    const chosen = decisionId === undefined ? {} : { decisionId };
    const selected = this.selection.isWhole ? {} : { selected: [...this.selection.ids] };
    if (this.ownMessage !== undefined) {
      return { decision: "edit", modifiedArguments: { ...(this.shown.arguments as object), [ownText(this.shown.preview).argument]: this.ownMessage }, digest };
    }
    return this.writes
      ? { decision: "edit", ...chosen, after: Object.fromEntries(this.selection.edited), ...selected, digest }
      : { decision: "approve", ...chosen, ...selected, digest };
  }
}

export interface ApprovalListener {
  added(approval: Approval): void;
  changed(approval: Approval): void;
  /** More of it was on the screen. */
  seen(approval: Approval): void;
  /** Answered here, or dead: `outcome` says which. */
  removed(approval: Approval, outcome: string): void;
}

export class Approvals {
  private readonly waiting = new Map<string, Approval>();
  private listeners: readonly Partial<ApprovalListener>[] = [];

  constructor(private readonly now: () => number) {}

  /** Listeners hear of everything in the order in which they came, until they call what this gives. */
  listen(listener: Partial<ApprovalListener>): () => void {
    this.listeners = [...this.listeners, listener];
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  /** In order of arrival. */
  get all(): readonly Approval[] {
    return [...this.waiting.values()];
  }

  get(id: string): Approval | undefined {
    return this.waiting.get(id);
  }

  /** Resolves with the user's answer; rejects with `gone(outcome)` when nobody can give one any more. */
  open(request: ApprovalRequest, gone: (outcome: string) => Error): Promise<ApprovalAnswer> {
    this.remove(request.approvalId, "replaced");
    return new Promise((settle, fail) => {
      const approval = new Approval(request, this.now, settle, (outcome) => fail(gone(outcome)));
      this.waiting.set(approval.id, approval);
      this.tell((listener) => listener.added?.(approval));
    });
  }

  change(changed: ApprovalChanged): void {
    this.alter(changed.approvalId, (approval) => approval.change(changed));
  }

  edit(id: string, path: string, text: string | undefined, older = false): void {
    const approval = this.waiting.get(id);
    if (approval) {
      const state = (): string => [approval.chosen.edited.size, approval.chosen.taken.length, approval.beneath].join();
      const before = state();
      approval.edit(path, text, older);
      if (state() !== before) {
        this.tell((listener) => listener.changed?.(approval)); // not with every key that is typed
      }
    }
  }

  see(id: string, path: string): void {
    const approval = this.waiting.get(id);
    if (approval?.see(path)) {
      this.tell((listener) => listener.seen?.(approval));
    }
  }

  writeMessage(id: string, text: string): void {
    this.alter(id, (approval) => approval.writeMessage(text));
  }

  comment(id: string, comment: LineComment): void {
    this.alter(id, (approval) => approval.comment(comment));
  }

  uncomment(id: string, comment: LineComment): void {
    this.alter(id, (approval) => approval.uncomment(comment));
  }

  /** Ticks or unticks hunks. Gives how many could not be. */
  take(id: string, path: string, ids: readonly string[], on: boolean): number {
    return this.alter(id, (approval) => approval.take(path, ids, on)) ?? 0;
  }

  private alter<T>(id: string, how: (approval: Approval) => T): T | undefined {
    const approval = this.waiting.get(id);
    const given = approval && how(approval);
    if (approval) {
      this.tell((listener) => listener.changed?.(approval));
    }
    return given;
  }

  /** `digest` is what the answer is for, where that need not be what is on show. */
  answer(id: string, choice: Choice, digest?: string): Verdict {
    const approval = this.waiting.get(id);
    if (!approval) {
      return "gone";
    }
    if (digest !== undefined && approval.request.digest !== digest) {
      return "changed";
    }
    const verdict = approval.answer(choice);
    if (verdict !== "taken") {
      return verdict;
    }
    this.waiting.delete(id);
    this.tell((listener) => listener.removed?.(approval, choice.kind));
    return "taken";
  }

  /** Somebody else settled it: another window, the agent that gave up, an expiry. */
  remove(id: string, outcome: string): void {
    const approval = this.waiting.get(id);
    if (approval) {
      this.waiting.delete(id);
      approval.abandon(outcome);
      this.tell((listener) => listener.removed?.(approval, outcome));
    }
  }

  /** Nobody can answer any more. */
  end(outcome: string): void {
    this.all.forEach(({ id }) => this.remove(id, outcome));
  }

  private tell(event: (listener: Partial<ApprovalListener>) => void): void {
    this.listeners.forEach(event);
  }
}

/** `changed`: it is not what the answer was given for any more. `nothing`: a yes to none of it. `no-message`: the user left none. `commented`: their comments would be lost. */
export type Verdict = "taken" | "too-soon" | "changed" | "nothing" | "no-message" | "commented" | "gone";

/** What a button asks for; the answer on the wire follows from it and from what the user edited. */
export type Choice =
  /** `saved` when the half second began anew only because this very answer had files saved first. */
  | { kind: "approve"; saved?: true }
  | { kind: "remember"; decisionId: string }
  /** Run this command in place of the agent's. */
  | { kind: "amend"; command: string }
  | { kind: "reject"; feedback?: string }
  /** Of a draft: all of it goes. They were asked whether they are sure. */
  | { kind: "discard" }
  | { kind: "cancel" };

interface OwnText {
  argument: string;
  /** Of its tab. */
  name: string;
  language: string;
  /** The answer that opens it, and what comes of it. */
  title: string;
  meaning: string;
}

const plan: OwnText = { argument: "plan", name: "Your plan", language: "markdown", title: "Edit Plan…", meaning: "the agent gets your plan" };
const message: OwnText = { argument: "message", name: "Commit message", language: "git-commit", title: "Edit Message…", meaning: "your text is committed" };

export function ownText(preview: Preview): OwnText {
  return preview.kind === "plan" ? plan : message;
}

/** As the agent wrote it; undefined where there is none that the user may change. */
function agentsText(preview: Preview, given: object): string | undefined {
  const text: unknown = Object.entries(given).find(([name]) => name === ownText(preview).argument)?.[1];
  return (preview.kind === "plan" || (preview.kind === "text" && preview.message !== undefined)) && typeof text === "string" ? text : undefined;
}

/** What you should know of what lies beneath a dialog. */
const beneathNotes: Readonly<Record<"unchanged" | "updated" | "moved" | "conflict", string | undefined>> = {
  unchanged: undefined,
  updated: "updated: what it is based on changed; review it again",
  moved: "moved: the same change, elsewhere in the file",
  conflict: "changed since: your text will be merged and shown again",
};
