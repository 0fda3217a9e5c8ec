// The read-only page on which a human decides about a command, an address, a plan or a text: what exactly would happen, where,
// why it asks, and what each answer means. Pure: it gives lines and the places to paint; pages.ts shows them.

import type { Approval } from "./approvals";
import type { Chosen } from "./chosen";
import { persistentTool } from "./deeds";
import { visible, visibleLines } from "./escape";
import { entriesWords, fileDeed, fileFate, isFolder, isText, names, noteOf } from "./file-words";
import { share } from "./hunk-words";
import { planTool } from "./plans";
import type { ApprovalDecision, ApprovalRequest, CommandPreview, DiffPreview, FilePreview, Preview, TextPreview } from "./protocol";
import { reviewTool } from "./reviews";
import { type Page, Sheet } from "./sheet";

/** More of one file's diff only hides the other files. */
const diffShown = 2000;

export function commandPage(approval: Approval): Page {
  const sheet = new Sheet();
  const { request } = approval;
  sheet.line(`${visible(request.agent.name)} wants to ${act(request.preview, request.tool)}`, "heading");
  if (approval.note !== undefined) {
    sheet.line("This was updated since it first appeared: what it rests on changed.", "warning");
  }
  sheet.gap();
  body(sheet, request.preview, approval);
  if (!partsOf(request.preview)) {
    sheet.gap(); // where the parts are facts, these are more of them
  }
  facts(sheet, request);
  sheet.gap();
  answers(sheet, request, approval);
  diff(sheet, request.preview);
  return sheet.page();
}

function partsOf(preview: Preview): boolean {
  return preview.kind === "text" && (preview.facts ?? []).length > 0;
}

function diff(sheet: Sheet, preview: Preview): void {
  if (preview.kind === "text" && preview.diff) {
    sheet.gap();
    sheet.gitDiff(preview.diff);
  }
}

/** Shown in place of a dialog that died while somebody looked at it. */
export function endedPage(request: ApprovalRequest, outcome: string): Page {
  const sheet = new Sheet();
  sheet.line(endingOf(outcome), "heading");
  sheet.gap();
  sheet.line(`${visible(request.agent.name)} wanted to ${act(request.preview, request.tool)}:`, "muted");
  body(sheet, request.preview);
  diff(sheet, request.preview);
  sheet.gap();
  sheet.line("It cannot be approved any more, and nothing of it was done. This tab may be closed.");
  return sheet.page();
}

export function endingOf(outcome: string): string {
  return endings[outcome] ?? `This question was closed: ${visible(outcome)}`;
}

const endings: Record<string, string> = {
  withdrawn: "The agent gave up waiting",
  expired: "Nobody answered in time",
  superseded: "This is asked again, because what it showed has changed",
  stale: "What this showed cannot be done any more",
  "sidecar stopped": "Pillion stopped, so this request is void",
};

/** The label of the line above which pages.ts offers to save. */
export const missesLabel = "It misses";

function act(preview: Preview, tool: string): string {
  switch (preview.kind) {
    case "command":
      return tool === persistentTool ? "start a command that goes on running" : "run a command";
    case "url":
      return "fetch an address";
    case "diff": {
      if (tool === reviewTool) {
        return "have a patch reviewed";
      }
      const [only, another] = preview.files ?? [];
      return only && !another && !isText(only) ? fileDeed(only) : "change files";
    }
    default:
      return tool === planTool ? "carry out a plan" : visible(preview.deed ?? `use ${tool}`);
  }
}

function body(sheet: Sheet, preview: Preview, approval?: Approval): void {
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
      changes(sheet, preview, approval?.chosen);
      return;
    default:
      if ((preview.facts ?? []).length > 0) {
        parts(sheet, preview, approval?.isEdited ? approval.message : undefined);
      } else if (preview.markdown) {
        sheet.code(visibleLines(preview.markdown), "  ", "  "); // set in, so that no line of it can pass for the page's own
      }
  }
}

/** A text in its parts, but for the diff, which comes last. */
function parts(sheet: Sheet, { message, facts }: TextPreview, ownMessage?: string): void {
  const shown = ownMessage ?? message;
  if (shown !== undefined) {
    sheet.code(visibleLines(shown.trimEnd()), "  ", "  ");
    if (ownMessage !== undefined) {
      sheet.line("  You edited this message; the agent learns of it.", "warning");
    }
    sheet.gap();
  }
  for (const { name, values, notable } of facts ?? []) {
    sheet.fact(visible(name), (values ?? []).map(visible), notable ? "warning" : undefined);
  }
}

function changes(sheet: Sheet, preview: DiffPreview, chosen?: Chosen): void {
  for (const file of preview.files ?? []) {
    sheet.gap();
    sheet.place(chosen?.key(file) ?? file.path);
    what(sheet, file);
    leftOut(file, chosen).forEach((words) => {
      sheet.line(words, "warning");
    });
    if (isText(file)) {
      sheet.diff(file.diff, diffShown);
    }
  }
}

/** What the human does not take of a file, or has otherwise. */
function leftOut(file: FilePreview, chosen?: Chosen): string[] {
  if (isText(file) && chosen?.edited.has(file.path)) {
    return ["  You wrote in this: your text counts, and not what stands here; its diff shows it."];
  }
  const hunks = chosen?.hunksOf(chosen.key(file)) ?? [];
  const taken = hunks.filter((hunk) => chosen?.takes(hunk)).length;
  if (taken === hunks.length) {
    return [];
  }
  return taken === 0 ? ["  You leave this out: it is not done."] : [`  Of this you take ${share(taken, hunks.length)} hunks; its diff shows which.`];
}

/** What becomes of it; of a folder, and of what moves, from where to where and what goes with it. */
function what(sheet: Sheet, file: FilePreview): void {
  if (isText(file)) {
    const size = `+${String(file.additions)} -${String(file.deletions)}`; // a true minus sign would be marked as one that passes for another
    sheet.line(`  ${visible(file.path)}  ${[fileFate(file), size, noteOf(file)].filter(Boolean).join(", ")}`, "rule");
  } else if (isFolder(file) || file.operation === "move") {
    sheet.fact(file.operation === "move" ? "From" : "Folder", [visible(file.path)]);
    sheet.fact("To", file.to === undefined ? [] : [visible(file.to)]);
    sheet.fact("With it", [entriesWords(file)].filter(Boolean), file.operation === "delete" ? "warning" : undefined);
    sheet.fact("Files", file.operation === "create_directory" ? [] : names(file));
  } else {
    sheet.line(`  ${visible(file.path)}  ${fileFate(file)}`, "rule");
  }
}

function facts(sheet: Sheet, request: ApprovalRequest): void {
  const { preview } = request;
  if (preview.kind === "command") {
    const folder = visible(preview.cwd ?? "");
    sheet.fact("Folder", [["", "."].includes(folder) ? "the workspace folder" : folder]);
    sheet.fact("Name", text(request, "process_id"));
  }
  if (request.tool === reviewTool) {
    sheet.fact("It says", request.description === "" ? [] : visibleLines(request.description));
  } else {
    sheet.fact("Why it asks", why(request));
  }
  if (preview.kind === "command") {
    commandFacts(sheet, preview, request);
  }
  const via = { mcp: ", over MCP", editor: ", in this editor", terminal: ", in a terminal" }[request.agent.via] ?? "";
  sheet.fact("Asked by", [visible(request.agent.name) + via]);
}

/** What has a line of its own on the page is not said twice. */
const saidElsewhere = /^it (sets |reads this text: |would not (see|hold) your unsaved )/;

function why({ reasons, preview }: ApprovalRequest): string[] {
  const [only, another] = preview.kind === "command" ? (preview.parts ?? []) : [];
  const all = [...(reasons ?? []), ...(another || !only?.why ? [] : [only.why])];
  return [...new Set(all)].filter((reason) => !saidElsewhere.test(reason)).map(visible);
}

function commandFacts(sheet: Sheet, preview: CommandPreview, request: ApprovalRequest): void {
  const parts = preview.parts ?? [];
  if (parts.length > 1 || parts.some((part) => argv(part.argv ?? []) !== preview.command.trim())) {
    sheet.fact("It runs", parts.map((part) => `${argv(part.argv ?? [])}   (${visible(part.why) || "a rule allows it"})`));
  }
  sheet.fact("It writes", (preview.writes ?? []).map(visible));
  sheet.fact(missesLabel, (preview.unsaved ?? []).map((path) => `what you have not saved in ${visible(path)}`), "warning");
  sheet.fact("It is given", given(request));
  sheet.fact("Sandbox", sandboxWords(preview));
  sheet.fact("Network", networkWords(preview));
}

/** Its variables and its input, whole. */
function given(request: ApprovalRequest): string[] {
  const { env } = (request.arguments ?? {}) as { env?: unknown };
  const variables = typeof env === "object" && env !== null ? Object.entries(env) : [];
  const input = text(request, "stdin", visibleLines);
  return [
    ...variables.map(([name, value]) => `the variable ${visible(name)}=${visible(String(value))}`),
    ...input.map((line, index) => (index === 0 ? "the input  " : "         > ") + line),
  ];
}

function text({ arguments: all }: ApprovalRequest, name: string, show = (value: string): string[] => [visible(value)]): string[] {
  const value = typeof all === "object" && all !== null ? (all as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" && value !== "" ? show(value) : [];
}

/** What holds it, in words that promise no more than is so, and that fit a page beside an editor. */
function sandboxWords({ sandbox }: CommandPreview): string[] {
  switch (sandbox ?? "") {
    case "":
      return [];
    case "none":
      return ["none: it runs with your own rights"];
    case "bubblewrap":
      return ["bubblewrap: it sees no other processes and", "writes in the workspace, temporary folders", "and build caches alone"];
    case "landlock":
      return ["Landlock: it writes in the workspace,", "temporary folders and build caches alone"];
    default:
      return [visible(sandbox ?? "")];
  }
}

function networkWords({ network, sandbox }: CommandPreview): string[] {
  const held = ["bubblewrap", "landlock"].includes(sandbox ?? "");
  return network ? ["it can reach it"] : held ? ["cut off"] : [];
}

function answers(sheet: Sheet, request: ApprovalRequest, approval: Approval): void {
  if (approval.isReview) {
    sheet.answer("Apply", "the agent is given what is ticked");
    sheet.answer("Cancel", "it is given nothing, and goes on");
    sheet.answer("Cancel with Reason…", "and reads why");
    return;
  }
  const plan = request.tool === planTool;
  sheet.answer("Approve", plan ? "the agent leaves plan mode and goes to work" : "this once");
  if (approval.unsaved.length > 0) {
    const runs = request.preview.kind === "command";
    sheet.answer(runs ? "Save and Run" : "Save First", runs ? "this once, saving first" : "above what it misses; it is shown again");
  }
  if (approval.remembering.length > 0) {
    sheet.answer("Approve and Remember…", approval.remembering.length > 1 ? "one of these rules:" : "this rule:");
    approval.remembering.forEach((decision) => {
      sheet.rule(scopes[decision.scope], decision.rule ?? decision.title);
    });
  }
  if (approval.message !== undefined) {
    sheet.answer("Edit Message…", "what you write is committed");
  }
  if (approval.editableCommand !== undefined) {
    sheet.answer("Edit Command…", "it runs as you write it");
  }
  sheet.answer("Reject", plan ? "the agent stays in plan mode" : "the agent goes on without it");
  sheet.answer("Reject with Reason…", "and reads why");
  sheet.answer("Cancel", "the agent stops");
}

/** How far a choice reaches. */
export const scopes: Record<ApprovalDecision["scope"], string> = {
  once: "this once",
  session: "until the agent ends",
  workspace: "always in this folder",
};

/** Longer ones are cut off at the edge of VS Code's lists. */
export const lineWidth = 60;

/** Whether it is a plain command of which one line of a list shows everything. */
export function fitsLine({ request, unsaved }: Pick<Approval, "request" | "unsaved">): boolean {
  const { preview, arguments: given } = request;
  const more = Object.keys(given ?? {}).filter((name) => !["command", "cwd"].includes(name));
  return preview.kind === "command" && visible(preview.command).length <= lineWidth && more.length === 0 && unsaved.length === 0;
}

/** Arguments as they would be typed, so that a blank inside one cannot pass for two. */
export function argv(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./*?~-]+$/.test(word) ? word : `'${visible(word).replaceAll("'", "'\\''")}'`)).join(" ");
}
