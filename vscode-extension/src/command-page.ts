// The read-only page on which a human decides about a command, an address, a plan or a text: what exactly would happen, where,
// why it asks, and what each answer means. Pure: it gives lines and the places to paint; pages.ts shows them.

import type { Approval } from "./approvals";
import { visible, visibleLines } from "./escape";
import { planTool } from "./plans";
import type { ApprovalRequest, CommandPreview, DiffPreview, Preview } from "./protocol";
import { type Page, Sheet } from "./sheet";

export function commandPage(approval: Approval): Page {
  const sheet = new Sheet();
  const { request } = approval;
  sheet.line(`${visible(request.agent.name)} wants to ${act(request.preview, request.tool)}`, "heading");
  if (approval.beneath !== "unchanged") {
    sheet.line("This was updated since it first appeared: what it rests on changed.", "warning");
  }
  sheet.gap();
  body(sheet, request.preview);
  sheet.gap();
  facts(sheet, request);
  sheet.gap();
  answers(sheet, request, approval.editableCommand !== undefined);
  return sheet.page();
}

/** Shown in place of a dialog that died while somebody looked at it. */
export function endedPage(request: ApprovalRequest, outcome: string): Page {
  const sheet = new Sheet();
  sheet.line(endings[outcome] ?? `This question was closed: ${visible(outcome)}`, "heading");
  sheet.gap();
  sheet.line(`${visible(request.agent.name)} wanted to ${act(request.preview, request.tool)}:`, "muted");
  body(sheet, request.preview);
  sheet.gap();
  sheet.line("It cannot be approved any more, and nothing of it was done. This tab may be closed.");
  return sheet.page();
}

const endings: Record<string, string> = {
  withdrawn: "The agent gave up waiting",
  expired: "Nobody answered in time",
  superseded: "This is asked again, because what it showed has changed",
  stale: "What this showed cannot be done any more",
  "sidecar stopped": "Pillion stopped, so nobody waits for this answer any more",
};

function act(preview: Preview, tool: string): string {
  switch (preview.kind) {
    case "command":
      return "run a command";
    case "url":
      return "fetch an address";
    case "diff":
      return "change files";
    default:
      return tool === planTool ? "carry out a plan" : `use ${visible(tool)}`;
  }
}

function body(sheet: Sheet, preview: Preview): void {
  switch (preview.kind) {
    case "command":
      sheet.code(visibleLines(preview.command), "  $ ", "  > ");
      if (visibleLines(preview.command).join("\n") !== preview.command) {
        sheet.line("  Invisible characters of this command are written out, as \\t or \\u{200b}.", "warning");
      }
      return;
    case "url":
      sheet.code([visible(preview.url)], "  ", "  ");
      return;
    case "diff":
      changes(sheet, preview);
      return;
    default:
      if (preview.markdown) {
        sheet.code(visibleLines(preview.markdown), "  ", "  "); // set in, so that no line of it can pass for the page's own
      }
  }
}

function changes(sheet: Sheet, preview: DiffPreview): void {
  for (const file of preview.files ?? []) {
    sheet.line(`  ${visible(file.path)}  +${String(file.additions)} -${String(file.deletions)}`, "rule");
    if (file.diff) {
      sheet.code(visibleLines(file.diff), "  ", "  ");
    }
  }
}

function facts(sheet: Sheet, request: ApprovalRequest): void {
  const { preview } = request;
  if (preview.kind === "command") {
    const folder = visible(preview.cwd ?? "");
    sheet.fact("Folder", [["", "."].includes(folder) ? "the workspace folder" : folder]);
  }
  sheet.fact("Why it asks", (request.reasons ?? []).map(visible));
  if (preview.kind === "command") {
    commandFacts(sheet, preview);
  }
  const via = { mcp: ", over MCP", editor: ", in this editor", terminal: ", in a terminal" }[request.agent.via] ?? "";
  sheet.fact("Asked by", [visible(request.agent.name) + via]);
}

function commandFacts(sheet: Sheet, preview: CommandPreview): void {
  const parts = preview.parts ?? [];
  if (parts.length > 1 || parts.some((part) => argv(part.argv ?? []) !== preview.command.trim())) {
    sheet.fact("It runs", parts.map((part) => argv(part.argv ?? []) + (part.why ? `   (${visible(part.why)})` : "")));
  }
  sheet.fact("It writes", (preview.writes ?? []).map(visible));
  sheet.fact("It misses", (preview.unsaved ?? []).map((path) => `what you have not saved in ${visible(path)}`), "warning");
  const sandbox = visible(preview.sandbox ?? "");
  sheet.fact("Network", preview.network ? ["it may reach it"] : []);
  sheet.fact("Sandbox", sandbox ? [sandbox === "none" ? "none; it runs with your own rights" : sandbox] : []);
}

function answers(sheet: Sheet, request: ApprovalRequest, editable: boolean): void {
  const remembered = (request.decisions ?? []).filter((decision) => decision.scope !== "once");
  const plan = request.tool === planTool;
  sheet.answer("Approve", plan ? "the agent leaves plan mode and goes to work" : "this once");
  for (const decision of remembered) {
    sheet.answer(visible(decision.title), "and from now on, without asking:", decision.rule);
  }
  if (editable) {
    sheet.answer("Edit Command…", "it runs as you write it");
  }
  sheet.answer("Reject", plan ? "the agent stays in plan mode" : "the agent goes on without it");
  sheet.answer("Reject with Reason…", "and reads why");
  sheet.answer("Cancel", "the agent stops");
}

/** Arguments as they would be typed, so that a blank inside one cannot pass for two. */
export function argv(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./*?~-]+$/.test(word) ? word : `'${visible(word).replaceAll("'", "'\\''")}'`)).join(" ");
}
