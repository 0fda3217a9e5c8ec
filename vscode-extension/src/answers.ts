// The commands that answer a request, in one table: from its own dialog, from the view, by key, several together, or a part of it. An
// approval from a list counts only for what the user could read whole: in its own dialog, as it is now, or in a line of the list; and only as
// long as it is still what was listed.

import { type CommentReply, commands, type QuickPickItem, Uri, window, workspace } from "vscode";
import type { Approval, Approvals, Choice, Verdict } from "./approvals";
import { short, visible, withoutLinks } from "./escape";
import type { Drawn } from "./line-comments";
import { say } from "./notices";
import { fitsLine, lineWidth, particular, yesWords } from "./request-page";
import { approvalIdOf, original, pathOf, placeOf } from "./schemes";
import { type Entry, takeHunks } from "./view";
import type { Handler, Workbench } from "./workbench";

export const answers: Record<string, Handler> = {
  ...answering("approve", give({ kind: "approve" })),
  ...answering("approveAndRemember", approveAndRemember),
  ...answering("reject", give({ kind: "reject" })),
  ...answering("rejectWithReason", rejectWithReason),
  ...answering("cancel", give({ kind: "cancel" })),
  ...Object.fromEntries(yesWords.map((word) => [`pillion.approveAs${word}`, inTitle(give({ kind: "approve" }))])),
  "pillion.approveInView": approveInView,
  "pillion.approveAsApplyInView": approveInView,
  "pillion.approveSelected": inTitle(give({ kind: "approve" })),
  "pillion.approveSelectedAsApply": inTitle(give({ kind: "approve" })),
  "pillion.rejectAsLeave": inTitle(give({ kind: "reject" })),
  "pillion.rejectAsLeaveInView": inList(give({ kind: "reject" })),
  "pillion.rejectWithReasonAsLeave": inTitle(rejectWithReason),
  "pillion.applyReview": inTitle(give({ kind: "approve" })),
  "pillion.applySelected": inTitle(give({ kind: "approve" })),
  "pillion.applyReviewInView": approveInView,
  "pillion.cancelReview": inTitle(give({ kind: "reject" })),
  "pillion.cancelReviewInView": inList(give({ kind: "reject" })),
  "pillion.cancelReviewWithReason": inTitle(rejectWithReason),
  "pillion.cancelReviewWithReasonInView": inList(rejectWithReason),
  "pillion.editCommand": editCommand,
  "pillion.editMessage": editMessage,
  "pillion.answerTogether": answerTogether,
  "pillion.chooseHunks": chooseHunks,
  "pillion.toggleHunk": toggleHunk,
  "pillion.addComment": ({ lineComments }, reply) => lineComments.add(reply as CommentReply),
  "pillion.deleteComment": ({ lineComments }, drawn) => lineComments.remove(drawn as Drawn),
  "pillion.saveUnseen": ({ approvals }, uri) => saveUnseen(approvals.get(uri instanceof Uri ? (approvalIdOf(uri) ?? "") : "")),
  "pillion.saveAndRun": saveAndRun,
};

/**
 * One answer's command, under three names: for a dialog's title or a link in it (an address comes along), for the view
 * (entries come along; there it has an icon) and for keys. A key that was meant for another editor must not hit a dialog
 * that has just got the focus.
 */
function answering(name: string, give: Giver): Record<string, Handler> {
  return {
    [`pillion.${name}`]: inTitle(give),
    [`pillion.${name}InView`]: inList(give),
    [`pillion.${name}ByKey`]: (bench) => give(bench, bench.front.takesKeys ? focused(bench) : []),
  };
}

type Giver = (bench: Workbench, ids: readonly string[], decisionId?: unknown) => unknown;

function inTitle(give: Giver): Handler {
  return (bench, first, second) => {
    const ids = pointedAt(bench, first);
    return ids.length > 0 ? give(bench, ids, second) : showFirst(bench);
  };
}

/** From the palette, while no request is in front: nobody answers what they have not seen. */
async function showFirst({ approvals, prompts }: Workbench): Promise<void> {
  if (approvals.all.length + prompts.all.length === 0) {
    void say.information("No request is waiting.");
    return;
  }
  await commands.executeCommand("pillion.showWaiting");
  void say.information("This is the first request that waits. Read it, and answer it now.");
}

function inList(give: Giver): Handler {
  return (bench, first, second) => give(bench, listed(first, second));
}

/** The one whose page the button stands on, else the one in front. */
function pointedAt(bench: Workbench, pressed: unknown): string[] {
  return pressed instanceof Uri ? [approvalIdOf(pressed)].filter((id) => id !== undefined) : focused(bench);
}

function focused({ front }: Workbench): string[] {
  return front.focused === undefined ? [] : [front.focused];
}

/** The entry whose button was pressed, or the whole selection when it is part of it. */
function listed(pressed: unknown, selected: unknown): string[] {
  const entries = Array.isArray(selected) && selected.includes(pressed) ? (selected as Entry[]) : [pressed as Entry];
  return [...new Set(entries.flatMap((entry) => ("approval" in entry ? [entry.approval.id] : [])))];
}

function give(choice: Choice): (bench: Workbench, ids: readonly string[]) => void {
  return (bench, ids) => {
    ids.forEach((id) => answer(bench, id, choice));
  };
}

/** `digest` where the user looked at something else, or wrote, between reading and answering. */
function answer({ approvals }: Workbench, id: string, choice: Choice, digest?: string): void {
  const verdict = approvals.answer(id, choice, digest);
  const missing = missed[verdict];
  if (verdict === "too-soon") {
    tellTooSoon();
  } else if (missing !== undefined) {
    void say.information(missing);
  }
}

/** Why an answer was not taken. */
const missed: Partial<Record<Verdict, string>> = {
  changed: "It was updated meanwhile. Review it and answer again.",
  nothing: "Nothing is ticked: tick what you want, or reject it.",
  "no-message": "There is no text: write some, or reject it.",
  commented: "Your comments go to the agent with a rejection: reject, or delete them first.",
};

function tellTooSoon(): void {
  window.setStatusBarMessage("$(watch) Pillion: too fast, press again", 4000);
}

/** A row of the view shows what is asked cut off at its edge, and nothing of why. */
async function approveInView(bench: Workbench, pressed: unknown, selected: unknown): Promise<void> {
  const ids = listed(pressed, selected);
  if (ids.length > 1) {
    await approveTogether(bench, ids);
  } else if (await look(bench, ids)) {
    give({ kind: "approve" })(bench, ids);
  }
}

/** Whether all of it was on the screen; if not, the first that was not is now. */
async function look(bench: Workbench, ids: readonly string[]): Promise<boolean> {
  const unseen = ids.find((id) => bench.approvals.get(id)?.wasSeen === false);
  if (unseen !== undefined) {
    await lookFirst(bench, unseen);
  }
  return unseen === undefined;
}

async function approveAndRemember(bench: Workbench, ids: readonly string[], decisionId?: unknown): Promise<void> {
  if (typeof decisionId === "string") {
    give({ kind: "remember", decisionId })(bench, ids); // a link that shows the rule itself
    return;
  }
  if (!(await look(bench, ids))) {
    return;
  }
  for (const approval of ids.map((id) => bench.approvals.get(id)).filter((one) => one !== undefined)) {
    const { digest } = approval.request;
    const items = approval.remembering.map(({ id, rule, title }) => ({ label: visible(rule ?? title), description: visible(title), id }));
    const placeHolder = "Calls that match the rule run without asking; * matches any words";
    const chosen = await window.showQuickPick(items, { title: "Approve, and remember this rule", placeHolder });
    if (chosen) {
      answer(bench, approval.id, { kind: "remember", decisionId: chosen.id }, digest);
    }
  }
}

async function rejectWithReason(bench: Workbench, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const [only, ...others] = ids.map((id) => bench.approvals.get(id)?.request.decisions?.[0]?.title);
  const feedback = await window.showInputBox({
    title: `${others.length === 0 && only !== undefined ? only : "Reject"} with a reason`,
    prompt: "The agent reads this and goes on. Escape keeps the request waiting.",
    placeHolder: "for example: keep the old name, other modules import it",
    ignoreFocusOut: true,
  });
  if (feedback !== undefined) {
    give({ kind: "reject", feedback })(bench, ids);
  }
}

/** What they write is what is committed, once they approve; the agent is told. */
async function editMessage(bench: Workbench, first: unknown): Promise<void> {
  const [id] = pointedAt(bench, first);
  if (bench.approvals.get(id ?? "")?.message === undefined) {
    void say.information("There is no text to edit here.");
  } else {
    await bench.front.showMessage(id ?? "");
  }
}

/** The command is the user's then: approved as they wrote it, and the agent is told. */
async function editCommand(bench: Workbench, first: unknown): Promise<void> {
  const [id] = pointedAt(bench, first);
  const approval = bench.approvals.get(id ?? "");
  const proposed = approval?.editableCommand;
  if (!approval || proposed === undefined) {
    void say.information("There is no command here that fits on one plain line.");
    return;
  }
  const { digest } = approval.request;
  const command = await window.showInputBox({
    title: "Run this instead",
    prompt: `Enter runs this, or asks you again if it does more, and ${withoutLinks(short(approval.request.agent.name, 40))} learns of the edit. Escape keeps the request waiting.`,
    value: proposed,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "An empty command does nothing; reject it instead" : undefined),
  });
  if (command !== undefined) {
    answer(bench, approval.id, { kind: "amend", command }, digest);
  }
}

interface Item extends QuickPickItem {
  id: string;
  digest: string;
  readable: boolean;
}

async function answerTogether(bench: Workbench): Promise<void> {
  const chosen = await choose(bench.approvals.all, "Answer several requests");
  if (!chosen || chosen.length === 0) {
    return;
  }
  const unread = chosen.filter((item) => !item.readable).length;
  const choices = [
    { label: "$(close) Reject", answer: "reject" },
    { label: "$(check) Approve", answer: "approve", detail: unread > 0 ? `except ${requests(unread)} that you have not seen` : "" },
    { label: "$(debug-stop) Stop Agent", answer: "cancel" },
  ] satisfies (QuickPickItem & { answer: Choice["kind"] })[];
  const choice = await window.showQuickPick(choices, { title: `Your answer to ${requests(chosen.length)}` });
  if (choice?.answer === "approve") {
    await approve(bench, chosen);
  } else if (choice) {
    chosen.forEach((item) => bench.approvals.answer(item.id, { kind: choice.answer }));
  }
}

/** From the view, of which several rows may be selected. */
async function approveTogether(bench: Workbench, ids: readonly string[]): Promise<void> {
  const waiting = ids.map((id) => bench.approvals.get(id)).filter((approval) => approval !== undefined);
  await approve(bench, (await choose(waiting, "Approve these requests?")) ?? []);
}

async function lookFirst({ front }: Workbench, id: string): Promise<void> {
  await front.show(id);
  window.setStatusBarMessage("$(eye) Pillion: read it first; nothing was answered", 4000);
}

async function approve(bench: Workbench, items: readonly Item[]): Promise<void> {
  const verdicts = items.filter(({ readable }) => readable).map(({ id, digest }) => bench.approvals.answer(id, { kind: "approve" }, digest));
  const changed = verdicts.filter((verdict) => verdict === "changed" || verdict === "too-soon").length;
  if (changed > 0) {
    void say.information(`${requests(changed)} changed while you looked at the list. Review and answer again.`);
  }
  if (verdicts.includes("commented")) {
    void say.information(missed.commented ?? "");
  }
  const unread = items.find(({ readable }) => !readable);
  if (unread) {
    await lookFirst(bench, unread.id);
  }
}

function choose(approvals: readonly Approval[], title: string): Thenable<Item[] | undefined> {
  return window.showQuickPick(approvals.map(item), { title, canPickMany: true, ignoreFocusOut: true });
}

function item(approval: Approval): Item {
  const { request } = approval;
  const readable = approval.wasSeen || fitsLine(approval);
  const folder = request.preview.kind === "command" && ![undefined, "", "."].includes(request.preview.cwd) ? `in ${visible(request.preview.cwd ?? "")}` : "";
  return {
    label: short(request.preview.deed, readable ? lineWidth * 2 : lineWidth),
    description: [visible(request.agent.name), folder, readable ? "" : "$(eye-closed) not seen yet"].filter(Boolean).join(" · "),
    detail: particular(request.reasons).map((reason) => short(reason.text, 160)).join("; "),
    picked: true,
    id: approval.id,
    digest: request.digest,
    readable,
  };
}

function requests(count: number): string {
  return count === 1 ? "1 request" : `${String(count)} requests`;
}

async function chooseHunks({ approvals, front, waitingView }: Workbench, first: unknown): Promise<void> {
  const uri = first instanceof Uri ? first : undefined;
  const approval = approvals.get((uri && approvalIdOf(uri)) ?? front.focused ?? "");
  if (approval) {
    await waitingView.choose(approval, uri ? pathOf(uri) : "");
  }
}

/** From a link (which hunk), the menu of a line number (which line), or at the cursor. */
function toggleHunk({ approvals }: Workbench, ...[from, path, hunkId]: unknown[]): void {
  const place = typeof from === "string" ? undefined : (placeOf(from) ?? placeOf(undefined));
  const approval = approvals.get(typeof from === "string" ? from : (approvalIdOf(place?.uri) ?? ""));
  const name = place ? pathOf(place.uri) : String(path);
  const hunk = place ? approval?.chosen.nearest(name, place.line, place.uri.scheme === original) : approval?.chosen.hunksOf(name).find(({ id }) => id === hunkId);
  if (approval?.chosen.isOpen && hunk) {
    takeHunks(approvals, approval, name, [hunk.id], !approval.chosen.takes(hunk));
  } else {
    void say.information("There are no hunks to choose here: approve or reject the whole.");
  }
}

/** How long the sidecar may take to notice what was saved. */
const noticeMs = 3000;

/** The files whose text a command would not see. Whether all of them are saved now. */
async function saveUnseen(approval: Approval | undefined): Promise<boolean> {
  const unsaved = new Set(approval?.unsaved);
  const documents = workspace.textDocuments.filter((document) => document.isDirty && unsaved.has(workspace.asRelativePath(document.uri)));
  const saved = await Promise.all(documents.map((document) => document.save()));
  return saved.every(Boolean);
}

/** It runs if the sidecar finds nothing different but what was saved; else it waits on. */
async function saveAndRun(bench: Workbench, first: unknown): Promise<void> {
  const { approvals } = bench;
  const [id = ""] = pointedAt(bench, first);
  const approval = approvals.get(id);
  if (!approval?.isArmed) {
    if (approval) {
      tellTooSoon();
    }
    return;
  }
  const same = noticed(approvals, id);
  if (!(await saveUnseen(approval))) {
    void say.warning("Not everything could be saved, so the command was not run. It waits for your answer.");
  } else if (await same) {
    approvals.answer(id, { kind: "approve", saved: true });
  } else {
    void say.information("Saving also changed other parts of the request. Review it before you run it.");
  }
}

/**
 * Resolves when the dialog misses nothing any more, is gone, or nothing has come for too long: then the sidecar judges the
 * answer by its digest. False when something else became different.
 */
function noticed(approvals: Approvals, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    let same = true;
    const done = (): void => {
      clearTimeout(late);
      stop();
      resolve(same);
    };
    const late = setTimeout(done, noticeMs);
    const stop = approvals.listen({
      changed: (approval) => {
        same &&= approval.id !== id || approval.beneath === "moved";
        if (approval.id === id && approval.unsaved.length === 0) {
          done();
        }
      },
      removed: (approval) => {
        if (approval.id === id) {
          done();
        }
      },
    });
  });
}
