// The parts that show what agents changed, kept up to date together.

import { type Disposable, Uri, workspace } from "vscode";
import { ChangeReview } from "./change-review";
import type { Documents } from "./documents";
import { follow } from "./follow";
import { Gutter } from "./gutter";
import { isRevert, Journal } from "./journal";
import { JournalView } from "./journal-view";
import { Marks } from "./marks";
import type { Pages } from "./pages";
import { type JournalChanged, type JournalList, methods, type WorkspaceChanged } from "./protocol";
import { Reverts } from "./reverts";
import type { Session } from "./session";
import type { Sessions } from "./sessions";
import { Unusual } from "./unusual";

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
  readonly review: ChangeReview;
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
    this.review = new ChangeReview(this.marks, this.gutter, this.reverts, pages);
    this.unusual = new Unusual(sessions, this.reverts, changed);
  }

  dispose(): void {
    clearTimeout(this.timer);
    [this.gutter, this.view, this.reverts, this.review].forEach((part) => part.dispose());
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
    this.journal.entries = entries ?? [];
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
      if (this.session().state.kind === "ready") {
        this.look().catch(() => undefined); // it stopped meanwhile, and tells all when it is back
      }
    }, settleMs);
  }

  private show(): void {
    this.view.refresh();
    this.changed();
  }
}

/** Of a path as tools print it: in a workspace of several folders it begins with the name of one. */
export function addressOf(path: string): Uri | undefined {
  const folders = workspace.workspaceFolders ?? [];
  const [first = "", ...rest] = path.split("/");
  const named = folders.length > 1 ? folders.find(({ name }) => name === first) : undefined;
  return named ? Uri.joinPath(named.uri, ...rest) : folders[0] && Uri.joinPath(folders[0].uri, path);
}
