// Going through what agents changed: from one change to the next, in a file or over all of them; keeping and undoing blocks and files.

import { Position, Range, Uri, window } from "vscode";
import { changeTarget } from "./journal";
import { placeOf, targetFor } from "./journal-commands";
import type { LineMark } from "./marks";
import { say } from "./notices";
import type { Handler, Workbench } from "./workbench";

export const reviewCommands: Record<string, Handler> = {
  "pillion.showChange": (bench, pressed) => show(bench, pressed, "change"),
  "pillion.showTurn": (bench, pressed) => show(bench, pressed, "turn"),
  "pillion.showAgentChanges": (bench, pressed) => show(bench, pressed, "agent"),
  "pillion.keepBlock": ({ changes }, pressed) => at(changes, pressed, (uri, mark) => { changes.gutter.keep(uri, mark); }),
  "pillion.undoBlock": ({ changes }, pressed) => at(changes, pressed, (uri, mark) => {
    const entry = changes.journal.find(mark.by.callId);
    return entry && changes.review.undoBlock(uri, mark, changeTarget(entry));
  }),
  "pillion.keepFile": ({ changes }, pressed) => { changes.review.keepFile(fileOf(pressed)); },
  "pillion.undoFile": ({ changes }, pressed) => changes.review.undoFile(fileOf(pressed)),
  "pillion.nextChange": (bench) => go(bench, true),
  "pillion.previousChange": (bench) => go(bench, false),
};

async function show(bench: Workbench, pressed: unknown, reach: "change" | "turn" | "agent"): Promise<void> {
  const target = await targetFor(bench, pressed, reach, "Show");
  await (target && bench.changes.review.show(target));
}

/** The block of a link, or the one at the cursor. */
function at({ marks }: Workbench["changes"], pressed: unknown, act: (uri: Uri, mark: LineMark) => unknown): unknown {
  const editor = window.activeTextEditor;
  const place = typeof pressed === "object" && pressed !== null ? placeOf(pressed as Record<string, unknown>) : editor && { uri: editor.document.uri.toString(), line: editor.selection.active.line };
  const mark = place && marks.at(place.uri, place.line);
  return place && mark ? act(Uri.parse(place.uri), mark) : say.information("There is no change by an agent here.");
}

function fileOf(pressed: unknown): Uri {
  return Uri.parse(String((pressed as { uri: unknown }).uri));
}

/** To the next change in this file, or, after its last one, to the first of the next file. */
async function go({ changes: { marks } }: Workbench, next: boolean): Promise<void> {
  const editor = window.activeTextEditor;
  const [here, line] = [editor?.document.uri.toString() ?? "", editor?.selection.active.line ?? 0];
  const inFile = marks.beside(here, line, next);
  const wraps = !inFile || (next ? inFile.start <= line : inFile.start >= line);
  const uri = wraps ? fileBeside(marks.uris, here, next) : here;
  const mark = uri === here ? inFile : marks.beside(uri ?? "", next ? -1 : Number.MAX_SAFE_INTEGER, next);
  if (uri === undefined || !mark) {
    void say.information("There is no change by an agent that you have not kept.");
    return;
  }
  const place = new Position(mark.start, 0);
  await window.showTextDocument(Uri.parse(uri), { selection: new Range(place, place) });
}

function fileBeside(uris: readonly string[], here: string, next: boolean): string | undefined {
  const at = uris.indexOf(here);
  return at < 0 ? uris[0] : uris[(at + (next ? 1 : uris.length - 1)) % uris.length];
}
