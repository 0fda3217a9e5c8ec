// The read-only page on which you decide about a request. The sidecar composes what it says; this lays it out as lines and the
// places to paint. Pure: pages.ts shows it.

import { type Approval, ownText } from "./approvals";
import type { Chosen } from "./chosen";
import { visible, visibleLines } from "./escape";
import type { ApprovalDecision, ApprovalRequest, DiffPreview, FilePreview, Preview, Reason } from "./protocol";
import { pathsOf } from "./hunks";
import { type Page, Sheet } from "./sheet";

/** More of one file's diff only hides the other files. */
const diffShown = 2000;

export function requestPage(approval: Approval): Page {
  const sheet = new Sheet();
  const { preview, agent } = approval.request;
  sheet.line(`${visible(agent.name)} wants to ${preview.act}`, "heading");
  if (approval.note !== undefined) {
    sheet.line("This was updated since it first appeared, because what it is based on changed.", "warning");
  }
  sheet.gap();
  body(sheet, preview, approval);
  sheet.gap();
  preview.facts.forEach((fact) => sheet.fact(fact));
  sheet.gap();
  answers(sheet, approval);
  diff(sheet, preview);
  return sheet.page();
}

/** Shown in place of a dialog that died while somebody looked at it. */
export function endedPage({ preview, agent }: ApprovalRequest, outcome: string): Page {
  const sheet = new Sheet();
  sheet.line(endingOf(outcome), "heading");
  sheet.gap();
  sheet.line(`${visible(agent.name)} wanted to ${preview.act}:`, "muted");
  body(sheet, preview);
  diff(sheet, preview);
  sheet.gap();
  sheet.line("Nothing was done, and it can no longer be approved. You can close this tab.");
  return sheet.page();
}

export function endingOf(outcome: string): string {
  return endings[outcome] ?? `This request was closed: ${visible(outcome)}`;
}

const endings: Record<string, string> = {
  withdrawn: "The agent no longer waits for an answer",
  expired: "Nobody answered in time",
  superseded: "What this showed has changed; it is shown again",
  stale: "What this showed cannot be done any more",
  "sidecar stopped": "Pillion stopped, so this request is void",
};

function diff(sheet: Sheet, preview: Preview): void {
  if ("diff" in preview && preview.diff) {
    sheet.gap();
    sheet.gitDiff(preview.diff);
  }
}

function body(sheet: Sheet, preview: Preview, approval?: Approval): void {
  if (preview.kind === "diff" || preview.kind === "review") {
    changes(sheet, preview, approval?.chosen);
  } else {
    const own = approval?.isEdited ? approval.message : undefined;
    const [first, following] = preview.kind === "command" ? ["  $ ", "  > "] : ["  ", "  "]; // set in, so that no line of it can pass for the page's own
    const lines = own === undefined ? ("lines" in preview ? (preview.lines ?? []) : []) : visibleLines(own);
    if (preview.kind === "plan") {
      sheet.markdown(lines, first);
    } else {
      sheet.code(lines, first, following);
    }
    if (own !== undefined) {
      sheet.line("  You edited this; the agent gets your text.", "warning");
    }
  }
  for (const notice of preview.notices ?? []) {
    sheet.line(`  ${notice}`, "warning");
  }
}

function changes(sheet: Sheet, preview: DiffPreview, chosen?: Chosen): void {
  for (const file of preview.files ?? []) {
    sheet.gap();
    sheet.place(chosen?.key(file) ?? file.path);
    sheet.line(`  ${file.name}  ${[file.summary, file.text ? `+${String(file.additions)} -${String(file.deletions)}` : ""].filter(Boolean).join(", ")}`, "rule"); // a true minus sign would be marked as one that passes for another
    leftOut(file, chosen).forEach((words) => sheet.line(`  ${words}`, "warning"));
    file.facts.forEach((fact) => sheet.fact(fact));
    if (file.text) {
      sheet.diff(file.diff, diffShown);
    }
    if (file.pictures) {
      sheet.pictures(file.pictures);
    }
  }
}

/** What you do not take of a file, or have otherwise. */
function leftOut(file: FilePreview, chosen?: Chosen): string[] {
  if (file.text && chosen?.edited.has(file.path)) {
    return ["You edited this: your text counts, and its diff shows it."];
  }
  const hunks = chosen?.hunksOf(chosen.key(file)) ?? [];
  const taken = hunks.filter((hunk) => chosen?.takes(hunk)).length;
  if (taken === hunks.length) {
    return [];
  }
  return taken === 0 ? ["You left this out."] : [`You selected ${share(taken, hunks.length)} hunks; the diff shows which.`];
}

/** `3 of 5`; empty when all of it is taken. */
export function share(taken: number, all: number): string {
  return taken === all ? "" : `${String(taken)} of ${String(all)}`;
}

function answers(sheet: Sheet, approval: Approval): void {
  const [no, yes] = approval.request.decisions ?? [];
  sheet.answer(yes?.title ?? "Approve", yes?.meaning ?? "");
  if (approval.unsaved.length > 0) {
    const runs = approval.request.preview.kind === "command";
    sheet.answer(runs ? "Save and Run" : "Save First", runs ? "once, after saving" : "then review it again");
  }
  if (approval.remembering.length > 0) {
    sheet.answer("Approve and Remember…", approval.remembering.length > 1 ? "one of these rules:" : "this rule:");
    approval.remembering.forEach((decision) => sheet.rule(scopes[decision.scope], decision.rule ?? decision.title));
  }
  if (approval.message !== undefined) {
    const { title, meaning } = ownText(approval.request.preview);
    sheet.answer(title, meaning);
  }
  if (approval.editableCommand !== undefined) {
    sheet.answer("Edit Command…", "your command runs");
  }
  sheet.answer(no?.title ?? "Reject", no?.meaning ?? "");
  sheet.answer(`${no?.title ?? "Reject"} with Reason…`, "and reads your reason");
  if (approval.isDraft) {
    sheet.answer("Discard Draft…", "nothing is applied, and all of it is gone");
  }
  if (!approval.isReview) {
    sheet.answer("Stop Agent", "rejects this and pauses the agent");
  }
}

/** What an agent says of a patch that it shows, whole; it may be cut beside the diff. */
export function messageOf({ request: { preview } }: Pick<Approval, "request">): string[] {
  const message = preview.facts.find(({ code }) => code === "message");
  return message ? (message.items ?? [message.text]) : [];
}

/** Nothing but lines of an agent's, below some that a list covers. */
export function wordsPage(title: string, lines: readonly string[], covered = 0): Page {
  const sheet = new Sheet();
  Array.from({ length: covered }).forEach(() => sheet.line(""));
  sheet.line(title, "heading");
  sheet.gap();
  lines.forEach((line) => { sheet.line(`  ${line}`); });
  return sheet.page();
}

/** How far a choice reaches. */
const scopes: Record<ApprovalDecision["scope"], string> = {
  once: "once",
  turn: "for the rest of this turn",
  session: "for this session",
  workspace: "for this workspace",
};

/** Longer ones are cut off at the edge of VS Code's lists. */
export const lineWidth = 60;

/** Whether it is a plain command of which one line of a list shows everything. */
export function fitsLine({ request, unsaved }: Pick<Approval, "request" | "unsaved">): boolean {
  const { preview, arguments: given } = request;
  const more = Object.keys(given ?? {}).filter((name) => !["command", "cwd"].includes(name));
  return preview.kind === "command" && preview.subject.length <= lineWidth && more.length === 0 && unsaved.length === 0;
}

/** Why this very call asks; that the tool asks before every call helps nobody. */
export function particular(reasons: Reason[] | null): Reason[] {
  return (reasons ?? []).filter(({ code }) => code !== "class");
}

/** What the button that approves may say, in place of *Approve*: a menu's titles are fixed, so each has a command of its own. */
export const yesWords = ["Run", "Commit", "Push", "Delete", "Fetch", "Read", "Start", "Apply"];

/** The word for what approving does. */
export function yesOf({ request }: Approval): string {
  return request.decisions?.find(({ id }) => id === "approve")?.title ?? "Approve";
}

/** `Reject`, `Reject with 2 Comments`. */
export function no({ request, comments: { length } }: Approval): string {
  const title = request.decisions?.[0]?.title ?? "Reject";
  return length === 0 ? title : `${title} with ${length === 1 ? "1 Comment" : `${String(length)} Comments`}`;
}

/** `Approve`, `Approve 7 Files`, `Approve 3 of 5 Hunks`. */
export function yes(approval: Approval): string {
  const { chosen, files } = approval;
  const title = yesOf(approval);
  const [paths, hunks] = [pathsOf(files).length, chosen.all.length];
  if (!chosen.isWhole) {
    return `${title} ${share(chosen.taken.length, hunks)} Hunks`;
  }
  return paths > 1 ? `${title} ${String(paths)} Files` : chosen.isOpen ? `${title} All ${String(hunks)} Hunks` : title;
}
