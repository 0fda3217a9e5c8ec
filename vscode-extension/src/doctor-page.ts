// What `pillion doctor --json` found, as a read-only page. Pure: doctor.ts runs it, pages.ts shows it.

import { visible } from "./escape";
import { type Page, type Paint, Sheet } from "./sheet";

export interface Finding {
  /** group.name */
  id: string;
  title: string;
  status: string;
  detail: string;
  hint?: string;
}

export interface Report {
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
  wrapped(visible(detail)).forEach((line, index) => {
    sheet.line((index === 0 ? `  ${sign} ${visible(title).padEnd(width)}  ` : indent) + line, paint);
  });
  if (hint) {
    wrapped(visible(hint)).forEach((line, index) => {
      sheet.line(indent + (index === 0 ? "→ " : "  ") + line, "muted");
    });
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
