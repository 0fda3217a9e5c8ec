// What a call would do, in a few words. Pure.

import type { Approval } from "./approvals";
import { short } from "./escape";
import { fileDeed, mergedNote, pathsOf } from "./file-words";
import { planTool } from "./plans";
import type { ApprovalRequest, FilePreview, Preview } from "./protocol";
import { reviewTool } from "./reviews";

/** What an agent calls to leave something running. */
export const persistentTool = "run_persistent";

/** What the call would do, in a few words: `src/app.py`, `3 files`, `pytest -q`. */
export function subject(preview: Preview): string {
  switch (preview.kind) {
    case "diff": {
      const [only = "", ...others] = pathsOf(preview.files ?? []);
      return others.length === 0 ? only : `${String(others.length + 1)} files`;
    }
    case "command":
      return preview.command;
    case "url":
      return preview.url;
    default:
      return "";
  }
}

/** `edit src/app.py`, `create notes.md`, `run pytest -q`: completes “claude wants to …”. */
export function deed({ preview, tool }: Pick<ApprovalRequest, "preview" | "tool">): string {
  switch (preview.kind) {
    case "diff": {
      if (tool === reviewTool) {
        return `have ${subject(preview)} reviewed`;
      }
      const [only, another] = preview.files ?? [];
      const told = only && !another && (only.whole !== undefined || ["delete", "move", "create_directory"].includes(only.operation));
      return told ? fileDeed(only) : `${verb(preview.files ?? [], tool)} ${subject(preview)}`;
    }
    case "command":
      return `${tool === persistentTool ? "leave running:" : "run"} ${preview.command}`;
    case "url":
      return `fetch ${preview.url}`;
    default:
      return tool === planTool ? "carry out a plan" : (preview.deed ?? `use ${tool}`);
  }
}

/** What the tab of a text asks. Of git the first word of what it does tells. */
export function textQuestion({ preview }: Pick<ApprovalRequest, "preview">): string {
  const first = preview.kind === "text" ? (preview.deed ?? "").split(" ", 1)[0] : "";
  return questions.get(first ?? "") ?? "Allow this?";
}

const questions = new Map([
  ["commit", "Commit this?"],
  ["push", "Push this?"],
  ["create", "Create a branch?"],
  ["switch", "Switch branches?"],
  ["delete", "Delete a branch?"],
  ["read", "Let it read this?"],
]);

function verb(files: readonly FilePreview[], tool: string): string {
  const [operation, another] = new Set(files.map((file) => file.operation));
  if (operation === "overwrite" && tool === "write_file") {
    return "overwrite";
  }
  return another === undefined && ["create", "delete", "move"].includes(operation ?? "") ? (operation ?? "") : "edit";
}

/** Why this very call asks; not what holds for every call of its tool. */
export function particulars({ reasons }: Pick<ApprovalRequest, "reasons">): string[] {
  return (reasons ?? []).filter((reason) => !reason.startsWith("this tool "));
}

/** What the diff of one file cannot say by itself. That it is merged is said first, and once; of a patch to review what it does to this file. */
export function besideFirstChange({ request, note, files, isReview }: Pick<Approval, "request" | "note" | "files" | "isReview">, file: FilePreview): string {
  const merged = file.merged === true;
  const all = isReview ? [request.description.replace(/\s*\n\s*/g, " "), file.note ?? ""].filter(Boolean) : particulars(request);
  const reasons = all.filter((reason) => !(merged && /\bmerged\b/.test(reason))).map((reason) => short(reason, 160)).join("; ");
  const count = pathsOf(files).length;
  const asks = isReview ? "" : count === 1 ? "asks because " : `this change of ${String(count)} files asks because `;
  return [merged ? mergedNote : "", note ?? "", reasons && asks + reasons].filter(Boolean).join(" · ");
}

/** `+3 −1` over all files. */
export function size(files: readonly FilePreview[]): string {
  const sum = (pick: (file: FilePreview) => number): number => files.reduce((total, file) => total + pick(file), 0);
  return `+${String(sum((file) => file.additions))} −${String(sum((file) => file.deletions))}`;
}
