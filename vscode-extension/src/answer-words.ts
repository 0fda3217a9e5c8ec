// The answers to a request in words, as links above what it is about: what each says, which command gives it, by which key. Pure.

import type { Approval } from "./approvals";
import { visible } from "./escape";
import { pathsOf } from "./files";
import { ownText } from "./own-text";
import { lineWidth, messageOf, share } from "./request-page";

export interface Answer {
  title: string;
  /** Without `pillion.`; it gets the address of what it stands on, or its own arguments. */
  command: string;
  args?: string[];
  tooltip: string;
}

/** What the button that approves may say, in place of *Approve*: a menu's titles are fixed, so each has a command of its own. */
export const yesWords = ["Run", "Commit", "Push", "Delete", "Fetch", "Read", "Start"];

/** The word for what approving does. */
export function yesOf({ request }: Approval): string {
  return request.decisions?.find(({ id }) => id === "approve")?.title ?? "Approve";
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

/** From left to right: what is cut off in a narrow editor is in the menu of its title too. `path` is of the file that it stands on. */
export function answersOf(approval: Approval, modifier: string, path?: string): Answer[] {
  const paths = approval.texts.map((file) => file.path);
  const next = paths.length > 1 && path !== undefined ? paths[(paths.indexOf(path) + 1) % paths.length] : undefined;
  const [no, consent] = approval.request.decisions ?? [];
  const [rejects, own] = [no?.title ?? "Reject", ownText(approval.request.preview)];
  const answer = (icon: string, title: string, command: string, key = "", meaning = ""): Answer[] => [
    { title: `$(${icon})\u00a0${title}`, command, tooltip: [meaning, key && `(${modifier}+K ${key})`].filter(Boolean).join(" ") },
  ];
  const show = (icon: string, title: string, tooltip: string): Answer => ({ title: `$(${icon})\u00a0${title}`, command: "show", tooltip });
  return [
    ...(approval.chosen.isNothing ? [] : answer("check", yes(approval), "approve", "Y", consent?.meaning)),
    ...answer("close", rejects, "reject", "N", no?.meaning),
    ...(messageOf(approval).join("").length > lineWidth ? [{ ...show("comment-discussion", "Message", "What the agent says of it"), command: "readMessage", args: [approval.id] }] : []),
    ...(next === undefined ? [] : [{ ...show("arrow-down", "Next File", visible(next)), args: [approval.id, next] }, { ...show("diff-multiple", `All ${String(paths.length)} Files`, "In one editor"), args: [approval.id] }]),
    ...answer("comment", `${rejects} with Reason…`, "rejectWithReason", "Shift+N", "The agent reads your reason and goes on"),
    ...(approval.editableCommand === undefined ? [] : answer("edit", "Edit Command…", "editCommand", "", "Your command runs")),
    ...(approval.message === undefined ? [] : answer("edit", own.title, "editMessage", "", own.meaning)),
    ...(approval.remembering.length === 0 ? [] : answer("check-all", "Approve and Remember…", "approveAndRemember", "Shift+Y", "Calls like this one run without asking")),
    ...(approval.chosen.isOpen ? answer("checklist", "Choose Hunks", "chooseHunks", "", "The list with a box for each hunk") : []),
  ];
}
