// The command Pillion: Doctor: has the program look at this machine, and shows what it found.

import { execFile } from "node:child_process";
import { ProgressLocation, Uri, window, workspace } from "vscode";
import { doctorPage, readReport } from "./doctor-page";
import { say } from "./notices";
import type { Pages } from "./pages";
import { doctor } from "./schemes";
import type { Session } from "./session";

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
    execFile(program, args, { timeout: patienceMs, maxBuffer: 1 << 24, windowsHide: true }, (_error, stdout) => {
      done(stdout);
    });
  });
}
