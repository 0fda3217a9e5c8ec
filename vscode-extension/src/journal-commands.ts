// What a human does about what agents changed, and the parts that show it.

import { commands, type Disposable, type QuickPickItem, type TextEditor, Uri, window, workspace } from "vscode";
import type { Handler, Workbench } from "./commands";
import type { Documents } from "./documents";
import { short, visible } from "./escape";
import { follow } from "./follow";
import { Gutter } from "./gutter";
import { agentTarget, changeTarget, isRevert, isRevertible, Journal, type Target, turnTarget } from "./journal";
import { type ChangeNode, describe, JournalView } from "./journal-view";
import { Marks } from "./marks";
import { say } from "./notices";
import type { Pages } from "./pages";
import { type JournalChanged, type JournalEntry, type JournalList, methods, type WorkspaceChanged } from "./protocol";
import { Reverts } from "./reverts";
import type { Session } from "./session";
import type { Sessions } from "./sessions";
import { Unusual } from "./unusual";

export const journalCommands: Record<string, Handler> = {
  "pillion.journal": showJournal,
  "pillion.revertChange": (bench, ...pressed) => revert(bench, pressed, "change"),
  "pillion.revertTurn": (bench, ...pressed) => revert(bench, pressed, "turn"),
  "pillion.revertAgent": (bench, ...pressed) => revert(bench, pressed, "agent"),
  "pillion.revertNow": ({ changes: { reverts } }, pressed) => reverts.revertNow(pressed instanceof Uri ? pressed : undefined),
  "pillion.openRevertDiff": ({ changes: { reverts } }, path) => reverts.openDiff(String(path)),
  "pillion.openChanged": openChanged,
  "pillion.accept": accept,
  "pillion.acceptAll": ({ changes: { gutter } }) => {
    tellAccepted(gutter.accept());
  },
};

/** More of the journal is not listed. */
const listed = 300;
/** A revert changes the state of several entries; one look is enough. */
const settleMs = 150;

export class Changes implements Disposable {
  readonly journal = new Journal();
  readonly marks = new Marks();
  readonly gutter: Gutter;
  readonly view = new JournalView(this.journal);
  readonly reverts: Reverts;
  readonly unusual: Unusual;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: () => Session,
    documents: Documents,
    pages: Pages,
    sessions: Sessions,
    now: () => number,
    private readonly changed: () => void,
  ) {
    this.gutter = new Gutter(this.marks, documents);
    this.reverts = new Reverts(session, pages, now);
    this.unusual = new Unusual(sessions, this.reverts, changed);
  }

  dispose(): void {
    clearTimeout(this.timer);
    [this.gutter, this.view, this.reverts].forEach((part) => {
      part.dispose();
    });
  }

  /** An agent changed something, or it was taken back. */
  heard({ entry, files }: JournalChanged): void {
    this.journal.hear(entry);
    if (isRevert(entry)) {
      this.gutter.lose((files ?? []).map(({ uri }) => uri));
    } else if (entry.state === "done") {
      this.gutter.add(files ?? [], { callId: entry.callId, agent: entry.agent.name, title: entry.title || entry.tool, time: entry.time });
    }
    void follow(files ?? []);
    this.reverts.touched((files ?? []).flatMap(({ path, to }) => [path, ...(to ? [to] : [])]));
    this.show();
    this.lookSoon();
  }

  /** Anybody changed files: what a preview shows may be something else now. */
  touched({ changes }: WorkspaceChanged): void {
    const others = (changes ?? []).filter(({ by }) => by === "outside").map(({ path }) => addressOf(path)?.toString() ?? "");
    this.gutter.lose(others);
    this.reverts.touched((changes ?? []).map(({ path }) => path));
  }

  async look(): Promise<void> {
    const { entries } = await this.session().request<JournalList>(methods.journalList, { limit: listed });
    this.journal.know(entries ?? []);
    this.gutter.forget(new Set((entries ?? []).filter(({ state }) => state === "reverted" || state === "undone").map(({ callId }) => callId)));
    this.show();
  }

  end(): void {
    clearTimeout(this.timer);
    this.journal.end();
    this.reverts.end();
    this.unusual.end();
    this.view.refresh();
  }

  lookSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.session().state.kind !== "ready") {
        return;
      }
      this.look().catch(() => undefined); // it stopped meanwhile, and tells all when it is back
    }, settleMs);
  }

  private show(): void {
    this.view.refresh();
    this.changed();
  }
}

type Reach = "change" | "turn" | "agent";

/** From a row of a view, a link in a hover, a line number's menu, or the palette: there the cursor says which, or the human picks. */
async function revert(bench: Workbench, pressed: readonly unknown[], reach: Reach): Promise<void> {
  const entry = entryOf(bench, pressed[0]);
  const target = entry ? targetOf(entry, reach) : await pick(bench, reach);
  if (target) {
    await bench.changes.reverts.preview(target);
  }
}

function targetOf(entry: JournalEntry, reach: Reach): Target {
  switch (reach) {
    case "change":
      return changeTarget(entry);
    case "turn":
      return turnTarget({ ...entry, agent: entry.agent.name });
    default:
      return agentTarget(entry.sessionId, entry.agent.name);
  }
}

function entryOf({ changes }: Workbench, pressed: unknown): JournalEntry | undefined {
  if (typeof pressed !== "object" || pressed === null) {
    const editor = window.activeTextEditor;
    return editor && marked(changes, editor.document.uri.toString(), editor.selection.active.line);
  }
  if ("kind" in pressed) {
    const node = pressed as ChangeNode;
    return node.kind === "turn" ? node.turn.entries[0] : node.entry;
  }
  if ("callId" in pressed) {
    return changes.journal.find(String(pressed.callId)); // a row of Activity
  }
  const place = placeOf(pressed as Record<string, unknown>);
  return place && marked(changes, place.uri, place.line);
}

/** A link in a hover gives `{uri, line}`, the menu of a line number `{uri, lineNumber}` from 1. */
function placeOf({ uri, line, lineNumber }: Record<string, unknown>): { uri: string; line: number } | undefined {
  const at = typeof line === "number" ? line : typeof lineNumber === "number" ? lineNumber - 1 : undefined;
  return at === undefined ? undefined : { uri: uri instanceof Uri ? uri.toString() : Uri.parse(String(uri)).toString(), line: at };
}

function marked({ marks, journal }: Changes, uri: string, line: number): JournalEntry | undefined {
  const mark = marks.at(uri, line);
  return mark && journal.find(mark.by.callId);
}

async function pick({ changes: { journal } }: Workbench, reach: Reach): Promise<Target | undefined> {
  const items = choices(journal, reach);
  if (items.length === 0) {
    void say.information("Agents have changed nothing here that could be reverted.");
    return undefined;
  }
  const title = { change: "Revert which change?", turn: "Revert which turn?", agent: "Revert everything by which agent?" }[reach];
  return (await window.showQuickPick(items, { title, placeHolder: "It is shown first; nothing happens before you say so", matchOnDetail: true }))?.target;
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
  const rows = reach === "turn" ? open.filter((turn) => !isRevert(turn)) : open.filter((turn, index) => !isRevert(turn) && open.findIndex((other) => other.sessionId === turn.sessionId) === index);
  return rows.map((turn) => {
    const all = reach === "turn" ? turn.entries : entries.filter(({ sessionId }) => sessionId === turn.sessionId);
    return {
      label: reach === "turn" ? `${short(turn.agent, 40)}, turn ${String(turn.turn)}` : short(turn.agent, 40),
      description: all.length === 1 ? "1 change" : `${String(all.length)} changes`,
      detail: short(all.map((entry) => entry.title || entry.tool).join(", "), 160),
      target: reach === "turn" ? turnTarget(turn) : agentTarget(turn.sessionId, turn.agent),
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
    void say.information(`${visible(file.path)} is not there any more, or is no text.`);
  }
}

/** Of a path as tools print it: in a workspace of several folders it begins with the name of one. */
function addressOf(path: string): Uri | undefined {
  const folders = workspace.workspaceFolders ?? [];
  const [first = "", ...rest] = path.split("/");
  const named = folders.length > 1 ? folders.find(({ name }) => name === first) : undefined;
  return named ? Uri.joinPath(named.uri, ...rest) : folders[0] && Uri.joinPath(folders[0].uri, path);
}

function accept({ changes: { gutter } }: Workbench, pressed: unknown): void {
  const place = typeof pressed === "object" && pressed !== null && !(pressed instanceof Uri) ? placeOf(pressed as Record<string, unknown>) : undefined;
  const uri = place ? Uri.parse(place.uri) : pressed instanceof Uri ? pressed : window.activeTextEditor?.document.uri;
  tellAccepted(uri ? gutter.accept(uri) : 0);
}

function tellAccepted(files: number): void {
  const words = files === 0 ? "there are no marks of an agent here" : files === 1 ? "accepted what agents changed in this file" : `accepted what agents changed in ${String(files)} files`;
  window.setStatusBarMessage(`$(check) Pillion: ${words}`, 4000);
}
