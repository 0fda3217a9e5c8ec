// A patch that an agent shows (`patch/review`), as one of the approvals: it waits, shows and is answered as they are. The
// human takes of it what they want; whatever they answer, no file changes by it.

import type { ApprovalAnswer, ApprovalRequest, FilePreview } from "./protocol";
import type { PatchReview, ReviewAnswer, ReviewFile } from "./protocol-review";

/** What an agent calls to have a patch reviewed. */
export const reviewTool = "apply_patch_review";

export function reviewQuestion({ reviewId, sessionId, agent, message, files }: PatchReview): ApprovalRequest {
  const [only, another] = files ?? []; // of several, the row of each says it
  const told = only && !another ? said(...origin(only), only.note) : "";
  return {
    approvalId: reviewId,
    callId: "",
    sessionId,
    agent,
    tool: reviewTool,
    title: "Review a patch",
    description: message.trim(),
    reasons: [message.replace(/\s*\n\s*/g, " "), told].filter(Boolean),
    arguments: {},
    preview: { kind: "diff", files: (files ?? []).map(preview) },
    decisions: [
      { id: "reject", title: "Cancel", scope: "once" },
      { id: "approve", title: "Apply", scope: "once" },
    ],
    digest: "",
  };
}

/** A file of it as a proposal has it: where there are no lines to look at, it is told in words. */
function preview(file: ReviewFile): FilePreview {
  const { path, uri, language, before, after, additions, deletions, openInEditor, dirty } = file;
  const hunks = file.hunks ?? [];
  const isText = hunks.some(({ lines }) => (lines ?? []).length > 0);
  const operation = ["create", "delete"].includes(file.operation) ? file.operation : "overwrite";
  const diff = hunks.map(({ header, lines }) => `${[header, ...(lines ?? [])].join("\n")}\n`).join("");
  const named = hunks.map(({ id, header }) => ({ id, header }));
  const words = isText ? { note: said(...origin(file), file.note) } : { whole: said(...origin(file), file.whole) };
  return { path, uri, operation, language, size: after.length, before, after, diff, hunks: named, additions, deletions, openInEditor, dirty, ...words };
}

function origin({ from, operation }: ReviewFile): string[] {
  return from === undefined ? [] : [`${operation === "copy" ? "copied" : "moved"} from ${from}`];
}

function said(...words: readonly (string | undefined)[]): string {
  return words.filter(Boolean).join(", ");
}

/** All of its hunks where the human left none out; with what they wrote in their place. */
export function answerToReview({ files }: PatchReview, { decision, selected, after, feedback }: ApprovalAnswer): ReviewAnswer {
  const reason = feedback ? { feedback } : {};
  if (decision === "reject" || decision === "cancel") {
    return { action: "cancel", selected: [], ...reason };
  }
  const all = (files ?? []).flatMap(({ hunks }) => (hunks ?? []).map(({ id }) => id));
  return { action: "apply", selected: selected ?? all, ...(after ? { edited: after } : {}), ...reason };
}
