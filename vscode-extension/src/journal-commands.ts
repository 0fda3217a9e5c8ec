// What a user does about what agents changed: revert it, and go through it, from one change to the next, keeping and undoing blocks and
// files.

import { commands, Position, type QuickPickItem, Range, type TextEditor, Uri, window } from "vscode";
import { addressOf } from "./changes";
import { short, visible, withoutIcons } from "./escape";
import { agentTarget, changeTarget, isRevert, isRevertible, Journal, sinceTarget, type Target, turnTarget } from "./journal";
import { type ChangeNode, describe, turnLabel } from "./journal-view";
import type { LineMark } from "./marks";
import { say } from "./notices";
import type { JournalEntry } from "./protocol";
import { placeOf } from "./schemes";
import type { Handler, Workbench } from "./workbench";

export const journalCommands: Record<string, Handler> = {
  "pillion.journal": showJournal,
  "pillion.revertChange": (bench, pressed) => revert(bench, pressed, "change"),
  "pillion.revertTurn": (bench, pressed) => revert(bench, pressed, "turn"),
  "pillion.restoreToHere": (bench, pressed) => revert(bench, pressed, "since"),
  "pillion.revertAgent": (bench, pressed) => revert(bench, pressed, "agent"),
  "pillion.revertNow": ({ changes: { reverts } }) => reverts.revertNow(),
  "pillion.openRevertDiff": ({ changes: { reverts } }, path) => reverts.openDiff(String(path)),
  "pillion.openChanged": openChanged,
  "pillion.accept": accept,
  "pillion.acceptAll": ({ changes: { gutter } }) => tellAccepted(gutter.accept()),
  "pillion.showChange": (bench, pressed) => show(bench, pressed, "change"),
  "pillion.showTurn": (bench, pressed) => show(bench, pressed, "turn"),
  "pillion.showAgentChanges": (bench, pressed) => show(bench, pressed, "agent"),
  "pillion.keepBlock": ({ changes }, pressed) => at(changes, pressed, (uri, mark) => changes.gutter.keep(uri, mark)),
  "pillion.undoBlock": ({ changes }, pressed) => at(changes, pressed, (uri, mark) => {
    const entry = changes.journal.find(mark.by.callId);
    return entry && changes.review.undoBlock(uri, mark, changeTarget(entry));
  }),
  "pillion.keepFile": ({ changes }, pressed) => changes.review.keepFile(fileOf(pressed)),
  "pillion.undoFile": ({ changes }, pressed) => changes.review.undoFile(fileOf(pressed)),
  "pillion.nextChange": (bench) => go(bench, true),
  "pillion.previousChange": (bench) => go(bench, false),
};

type Reach = "change" | "turn" | "since" | "agent";

/** From a row of a view, a link in a hover, a line number's menu, or the palette: there the cursor says which, or the user picks. */
async function targetFor(bench: Workbench, pressed: unknown, reach: Reach, verb: string): Promise<Target | undefined> {
  const entry = entryOf(bench, pressed);
  return entry ? targetOf(entry, reach) : pick(bench, reach, verb);
}

async function revert(bench: Workbench, pressed: unknown, reach: Reach): Promise<void> {
  const target = await targetFor(bench, pressed, reach, "Revert");
  await (target && bench.changes.reverts.preview(target));
}

function targetOf(entry: JournalEntry, reach: Reach): Target {
  switch (reach) {
    case "change":
      return changeTarget(entry);
    case "turn":
      return turnTarget({ ...entry, agent: entry.agent.name });
    case "since":
      return sinceTarget({ ...entry, agent: entry.agent.name });
    default:
      return agentTarget(entry.sessionId, entry.agent.name);
  }
}

function entryOf({ changes }: Workbench, pressed: unknown): JournalEntry | undefined {
  if (typeof pressed === "object" && pressed !== null && "kind" in pressed) {
    const node = pressed as ChangeNode;
    return node.kind === "turn" ? node.turn.entries[0] : node.entry;
  }
  if (typeof pressed === "object" && pressed !== null && "callId" in pressed) {
    return changes.journal.find(String(pressed.callId)); // a row of Activity
  }
  const place = placeOf(pressed);
  const mark = place && changes.marks.at(place.uri.toString(), place.line);
  return mark && changes.journal.find(mark.by.callId);
}

async function pick({ changes: { journal } }: Workbench, reach: Reach, verb: string): Promise<Target | undefined> {
  const items = choices(journal, reach);
  if (items.length === 0) {
    void say.information(`There is no change by an agent to ${verb.toLowerCase()} here.`);
    return undefined;
  }
  const title = { change: `${verb} which change?`, turn: `${verb} which turn?`, since: "Restore the files to before which turn?", agent: `${verb} everything by which agent?` }[reach];
  return (await window.showQuickPick(items, { title, placeHolder: verb === "Revert" ? "You see a preview first" : "", matchOnDetail: true }))?.target;
}

type Choice = QuickPickItem & { target: Target };

function choices({ entries, turns }: Journal, reach: Reach): Choice[] {
  if (reach === "change") {
    return entries.filter(isRevertible).map((entry) => ({
      label: short(entry.title || entry.tool, 80),
      description: [visible(entry.agent.name), describe(entry)].join(" · "),
      detail: short((entry.paths ?? []).join(", "), 160),
      target: changeTarget(entry),
    }));
  }
  const open = turns.filter((turn) => turn.entries.some(isRevertible));
  const rows = reach !== "agent" ? open.filter((turn) => !isRevert(turn)) : open.filter((turn, index) => !isRevert(turn) && open.findIndex((other) => other.sessionId === turn.sessionId) === index);
  return rows.map((turn) => {
    const agents = entries.filter(({ sessionId }) => sessionId === turn.sessionId);
    const all = { turn: turn.entries, since: agents.filter((entry) => entry.turn >= turn.turn), agent: agents }[reach];
    return {
      label: reach !== "agent" ? withoutIcons(turnLabel(turn)) : short(turn.agent, 40),
      description: [...(reach !== "agent" && turn.prompt ? [short(turn.agent, 40)] : []), all.length === 1 ? "1 change" : `${String(all.length)} changes`].join(" · "),
      detail: short(all.map((entry) => entry.title || entry.tool).join(", "), 160),
      target: { turn: turnTarget(turn), since: sinceTarget(turn), agent: agentTarget(turn.sessionId, turn.agent) }[reach],
    };
  });
}

async function showJournal({ changes }: Workbench): Promise<void> {
  await changes.look();
  if (changes.journal.entries.length === 0) {
    void say.information("No agent has changed anything here yet.");
    return;
  }
  await commands.executeCommand("pillion.changes.focus");
}

/** The file as it is now, at its first mark if it has any. */
async function openChanged({ changes }: Workbench, pressed: unknown): Promise<void> {
  const { file } = pressed as ChangeNode & { kind: "changedFile" };
  const uri = addressOf(file.path);
  if (!uri) {
    return;
  }
  try {
    const editor: TextEditor = await window.showTextDocument(uri);
    const [first] = changes.marks.of(uri.toString());
    if (first) {
      editor.revealRange(editor.document.lineAt(Math.min(first.start, editor.document.lineCount - 1)).range);
    }
  } catch {
    void say.information(`${visible(file.path)} no longer exists, or is not a text file.`);
  }
}

function accept({ changes: { gutter } }: Workbench, pressed: unknown): void {
  const uri = pressed instanceof Uri ? pressed : (placeOf(pressed) ?? placeOf(undefined))?.uri;
  tellAccepted(uri ? gutter.accept(uri) : 0);
}

function tellAccepted(files: number): void {
  const words = files === 0 ? "there are no marks here" : files === 1 ? "accepted what agents changed in this file" : `accepted what agents changed in ${String(files)} files`;
  window.setStatusBarMessage(`$(check) Pillion: ${words}`, 4000);
}

async function show(bench: Workbench, pressed: unknown, reach: "change" | "turn" | "agent"): Promise<void> {
  const target = await targetFor(bench, pressed, reach, "Show");
  await (target && bench.changes.review.show(target));
}

/** The block of a link, or the one at the cursor. */
function at({ marks }: Workbench["changes"], pressed: unknown, act: (uri: Uri, mark: LineMark) => unknown): unknown {
  const place = placeOf(pressed);
  const mark = place && marks.at(place.uri.toString(), place.line);
  return place && mark ? act(place.uri, mark) : say.information("There is no change by an agent here.");
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
