// What setting an agent up would write, as a read-only page. Pure: connect.ts has the program say it and shows it.

import { visible } from "./escape";
import { type Page, Sheet } from "./sheet";

/** `pillion mcp install --json AGENT` */
export interface InstallPlan {
  agent: string;
  name: string;
  files: { path: string; what?: string; why: string[]; diff?: string }[];
  notes: string[];
}

export function connectPage({ name, files, notes }: InstallPlan): Page {
  const sheet = new Sheet();
  if (files.length === 0) {
    sheet.line(`${visible(name)} is connected`, "heading");
  } else {
    sheet.line(`Connect ${visible(name)}: this would be written`, "heading");
    sheet.gap();
    sheet.answer("Connect", files.length === 1 ? "writes this file" : `writes these ${String(files.length)} files`);
    sheet.answer("Close this tab", "nothing is written");
  }
  for (const { path, what, why, diff } of files) {
    sheet.gap();
    sheet.line(`${visible(path)}${what === undefined ? "" : `, ${what}`}`, "choice");
    why.forEach((line) => { sheet.line(`  • ${visible(line)}`); });
    if (diff) {
      sheet.gap();
      sheet.diff(diff, Infinity);
    }
  }
  notes.forEach((note) => {
    sheet.gap();
    sheet.line(visible(note));
  });
  return sheet.page();
}
