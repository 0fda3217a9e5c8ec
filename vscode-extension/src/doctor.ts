// The command Pillion: Doctor: has the program look at this machine, and shows what it found.

import { execFile } from "node:child_process";
import { ProgressLocation, Uri, window, workspace } from "vscode";
import { visible } from "./escape";
import { say } from "./notices";
import type { Pages } from "./pages";
import { doctor } from "./schemes";
import type { Session } from "./session";
import { type Page, type Paint, Sheet } from "./sheet";

/** The doctor has every program tell its version, each for ten seconds at most. */
const patienceMs = 60_000;

export async function examine({ session, pages }: { session: Session; pages: Pages }): Promise<void> {
  const located = await session.locate();
  if ("problem" in located) {
    await session.restart(); // which says what is wrong, with the way out
    return;
  }
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const title = "Pillion is checking this machine";
  const printed = await window.withProgress({ location: ProgressLocation.Window, title }, () => run(located.path, folder));
  const report = readReport(printed);
  if (!report) {
    void say.error(`Pillion: ${located.path} doctor printed nothing that could be read. Is it an older version?`);
    return;
  }
  await pages.present(Uri.from({ scheme: doctor, path: "/Pillion Doctor" }), doctorPage(report));
}

/** What it prints; with an error among its findings it prints them all the same, and ends with exit code 1. */
function run(program: string, folder: string | undefined): Promise<string> {
  const args = ["doctor", "--json", ...(folder === undefined ? [] : ["-C", folder])];
  return new Promise((done) => {
    execFile(program, args, { timeout: patienceMs, maxBuffer: 1 << 24, windowsHide: true }, (_error, stdout) => done(stdout));
  });
}

interface Finding {
  /** group.name */
  id: string;
  title: string;
  status: string;
  detail: string;
  hint?: string;
}

interface Report {
  version: string;
  verdict: string;
  findings: Finding[];
}

const groups: Record<string, string> = {
  pillion: "Pillion",
  folder: "This folder",
  language: "Languages",
  program: "Programs",
  system: "System",
  editor: "Editors",
  agent: "Agents",
};

const looks: Record<string, { sign: string; paint?: Paint }> = {
  ok: { sign: "✓" },
  info: { sign: "·", paint: "muted" },
  missing: { sign: "○", paint: "warning" },
  warning: { sign: "!", paint: "warning" },
  error: { sign: "✗", paint: "warning" },
};

/** The report in what the program printed, or undefined when it is none. */
export function readReport(printed: string): Report | undefined {
  let report: unknown;
  try {
    report = JSON.parse(printed);
  } catch {
    return undefined;
  }
  return isReport(report) ? report : undefined;
}

export function doctorPage(report: Report): Page {
  const sheet = new Sheet();
  sheet.line(visible(report.verdict), "heading");
  const width = Math.max(0, ...report.findings.map(({ title }) => visible(title).length));
  let group: string | undefined;
  for (const finding of report.findings) {
    const [its = ""] = finding.id.split(".");
    if (its !== group) {
      group = its;
      sheet.gap();
      sheet.line(groups[its] ?? visible(its), "label");
    }
    tell(sheet, finding, width);
  }
  sheet.gap();
  sheet.line("It contains no tokens; you can paste it into an issue. Run Pillion: Doctor to check again.", "muted");
  return sheet.page();
}

/** How long a line of a detail may be; an editor would break it below the sign, and not below its beginning. */
const room = 80;

function tell(sheet: Sheet, { title, status, detail, hint }: Finding, width: number): void {
  const { sign, paint } = looks[status] ?? { sign: "?" };
  const indent = " ".repeat(width + 6);
  wrapped(visible(detail)).forEach((line, index) => sheet.line((index === 0 ? `  ${sign} ${visible(title).padEnd(width)}  ` : indent) + line, paint));
  if (hint) {
    wrapped(visible(hint)).forEach((line, index) => sheet.line(indent + (index === 0 ? "→ " : "  ") + line, "muted"));
  }
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line += (line === "" ? "" : " ") + word;
    }
  }
  return [...lines, line];
}

function isReport(value: unknown): value is Report {
  return isObject(value) && isText(value["verdict"]) && Array.isArray(value["findings"]) && value["findings"].every(isFinding);
}

function isFinding(value: unknown): boolean {
  return isObject(value) && ["id", "title", "status", "detail"].every((key) => isText(value[key])) && ["string", "undefined"].includes(typeof value["hint"]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
