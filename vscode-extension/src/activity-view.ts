// The view “Activity”: what the agents did lately, newest first. A click opens what a call is about; what it came to is asked for
// when its editor wants the text.

import { commands, Disposable, EventEmitter, Range, type TextDocumentContentProvider, ThemeColor, ThemeIcon, type TreeDataProvider, TreeItem, Uri, window, workspace } from "vscode";
import { type Activity, duration, opens, outcomeOf } from "./activity";
import type { ActivityChanged, ActivityShow, ActivityShown, CausedProblem } from "./activity-protocol";
import { addressOf } from "./changes";
import { short, visible } from "./escape";
import { type Journal, when } from "./journal";
import { say } from "./notices";
import { type FilePreview, methods } from "./protocol";
import { shown } from "./schemes";
import type { Session } from "./session";
import type { Handler, Workbench } from "./workbench";

/** Many calls end in one moment; the tree is drawn at most this often. */
const redrawMs = 100;

export class ActivityView implements TreeDataProvider<ActivityChanged>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  private timer: NodeJS.Timeout | undefined;
  readonly onDidChangeTreeData = this.changes.event;
  private readonly registration: Disposable;

  constructor(
    private readonly activity: Activity,
    private readonly journal: Journal,
    session: () => Session,
  ) {
    this.registration = Disposable.from(window.registerTreeDataProvider("pillion.activity", this), showCalls(session));
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registration.dispose();
    this.changes.dispose();
  }

  refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changes.fire(undefined);
    }, redrawMs);
  }

  getChildren(entry?: ActivityChanged): ActivityChanged[] {
    return entry ? [] : [...this.activity.entries];
  }

  getTreeItem(entry: ActivityChanged): TreeItem {
    const { state, problem } = entry;
    const title = short(entry.title || entry.tool, 100);
    const outcome = state === "waiting" ? "waiting for you" : short(outcomeOf(entry), 120);
    const item = new TreeItem(title);
    item.id = `${entry.sessionId}\n${entry.callId}`;
    item.contextValue = `call${this.journal.revertible(entry.callId) ? ".revertible" : ""}${problem ? ".problem" : ""}`;
    item.description = [outcome, when(entry.started, new Date()), duration(entry.durationMs), visible(entry.agent.name)].filter(Boolean).join(" · ");
    item.iconPath = problem ? problemIcon(problem.severity) : icons[state];
    item.tooltip = [visible(entry.title), outcome, opens(entry) ?? "", `${entry.tool}, ${visible(entry.agent.name)}`].filter(Boolean).join("\n");
    item.accessibilityInformation = { label: `${state}: ${title}, ${outcome}` };
    if (opens(entry) !== undefined) {
      item.command = { title: "Open", command: "pillion.openCall", arguments: [entry] };
    }
    return item;
  }
}

const icons: Record<ActivityChanged["state"], ThemeIcon> = {
  queued: new ThemeIcon("clock"),
  running: new ThemeIcon("loading~spin"),
  waiting: new ThemeIcon("bell-dot", new ThemeColor("list.warningForeground")),
  done: new ThemeIcon("check", new ThemeColor("testing.iconPassed")),
  failed: new ThemeIcon("error", new ThemeColor("testing.iconFailed")),
};

/** It was done, and broke something. */
function problemIcon(severity: number): ThemeIcon {
  return new ThemeIcon("warning", new ThemeColor(severity === 1 ? "list.errorForeground" : "list.warningForeground"));
}

export const activityCommands: Record<string, Handler> = {
  "pillion.openCall": openCall,
  "pillion.goToProblem": goToProblem,
};

type Side = "before" | "after" | "text";

/** Gives the texts that openCall opens. */
function showCalls(session: () => Session): Disposable {
  const provider: TextDocumentContentProvider = {
    async provideTextDocumentContent(uri) {
      const { side, ...call } = JSON.parse(uri.query) as ActivityShow & { side: Side };
      try {
        const { text, preview } = await ask(session(), call);
        return side === "text" ? (text ?? "") : (preview?.files?.find(({ path }) => `/${path}` === uri.path)?.[side] ?? "");
      } catch {
        return "What this call came to is not kept any more.\n";
      }
    },
  };
  return workspace.registerTextDocumentContentProvider(shown, provider);
}

function ask(session: Session, { sessionId, callId }: ActivityShow): Promise<ActivityShown> {
  return session.request<ActivityShown>(methods.activityShow, { sessionId, callId } satisfies ActivityShow);
}

function addressIn(call: ActivityShow, side: Side, path: string): Uri {
  return Uri.from({ scheme: shown, path: `/${path}`, query: JSON.stringify({ sessionId: call.sessionId, callId: call.callId, side }) });
}

async function openCall({ approvals, front, session }: Workbench, pressed: unknown): Promise<void> {
  const entry = pressed as ActivityChanged;
  const request = approvals.all.find(({ request: { callId, sessionId } }) => callId === entry.callId && sessionId === entry.sessionId);
  if (request) {
    await front.show(request.id);
  } else if (entry.shows === "diff") {
    await openDiff(session, entry);
  } else if (entry.shows) {
    const name = entry.shows === "command" ? `Output of ${programOf(entry)}` : entry.tool;
    await window.showTextDocument(addressIn(entry, "text", name), { preview: true });
  } else if (entry.path !== undefined) {
    await openFile(entry.path);
  }
}

/** The first word of a command, as a tab can have it. */
function programOf({ title }: ActivityChanged): string {
  return short(title.split(" ")[1]?.split("/").at(-1) ?? "", 40) || "a command";
}

/** As it was before the call and after it; of several files all in one editor. */
async function openDiff(session: Session, entry: ActivityChanged): Promise<void> {
  const files = await ask(session, entry).then(({ preview }) => (preview?.files ?? []).filter(({ text }) => text), () => undefined);
  const [first] = files ?? [];
  if (!files || !first) {
    await commands.executeCommand("pillion.changes.focus"); // no two texts to compare, or none that are kept
    return;
  }
  const whose = `${visible(entry.agent.name)}, ${when(entry.started, new Date())}`;
  if (files.length > 1) {
    await commands.executeCommand("vscode.changes", `${short(entry.title, 60)}: ${whose}`, files.map((file) => [addressOf(file.path), ...sides(entry, file)]));
    return;
  }
  const [before, after] = [addressIn(entry, "before", first.path), addressIn(entry, "after", first.path)];
  await commands.executeCommand("vscode.diff", before, after, `${visible(first.path.split("/").at(-1) ?? "")}: changed by ${whose}`, { preview: true });
}

/** A file that was created has no left side, one that was deleted no right one. */
function sides(entry: ActivityChanged, { path, operation }: FilePreview): [Uri | undefined, Uri | undefined] {
  return [operation === "create" ? undefined : addressIn(entry, "before", path), operation === "delete" ? undefined : addressIn(entry, "after", path)];
}

async function goToProblem(_: Workbench, pressed: unknown): Promise<void> {
  const { problem } = pressed as ActivityChanged;
  if (problem) {
    await openFile(problem.path, problem);
  }
}

async function openFile(path: string, problem?: CausedProblem): Promise<void> {
  const uri = addressOf(path);
  const { start } = problem?.range ?? {};
  try {
    if (uri) {
      await commands.executeCommand("vscode.open", uri, start ? { selection: new Range(start.line, start.character, start.line, start.character) } : {});
    }
  } catch {
    void say.information(`${visible(path)} no longer exists.`);
  }
}
