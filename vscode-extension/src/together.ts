// Several questions answered from a list. A yes counts only for what the user could read whole: in its own dialog, as it is
// now, or in a line of the list; and only as long as it is still what was listed.

import { type QuickPickItem, window } from "vscode";
import type { Approval, Approvals } from "./approvals";
import type { Choice } from "./choice";
import { short, visible } from "./escape";
import type { Front } from "./front";
import { say } from "./notices";
import { particular } from "./reasons";
import { fitsLine, lineWidth } from "./request-page";

export interface Table {
  approvals: Approvals;
  front: Front;
}

interface Item extends QuickPickItem {
  id: string;
  digest: string;
  readable: boolean;
}

export async function answerTogether(table: Table): Promise<void> {
  const chosen = await choose(table.approvals.all, "Answer several requests");
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
    await approve(table, chosen);
  } else if (choice) {
    chosen.forEach((item) => table.approvals.answer(item.id, { kind: choice.answer }));
  }
}

/** From the view, of which several rows may be selected. */
export async function approveTogether(table: Table, ids: readonly string[]): Promise<void> {
  const waiting = ids.map((id) => table.approvals.get(id)).filter((approval) => approval !== undefined);
  await approve(table, (await choose(waiting, "Approve these requests?")) ?? []);
}

export async function lookFirst({ front }: Table, id: string): Promise<void> {
  await front.show(id);
  window.setStatusBarMessage("$(eye) Pillion: read it first; nothing was answered", 4000);
}

async function approve(table: Table, items: readonly Item[]): Promise<void> {
  const verdicts = items.filter(({ readable }) => readable).map(({ id, digest }) => table.approvals.answer(id, { kind: "approve" }, digest));
  const changed = verdicts.filter((verdict) => verdict === "changed" || verdict === "too-soon").length;
  if (changed > 0) {
    void say.information(`${requests(changed)} changed while you looked at the list. Review and answer again.`);
  }
  const unread = items.find(({ readable }) => !readable);
  if (unread) {
    await lookFirst(table, unread.id);
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
