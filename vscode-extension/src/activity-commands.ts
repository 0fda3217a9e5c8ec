// What a user does about a call that is listed under Activity: open what it is about. What it came to is asked for when its
// editor wants the text, so nothing is kept here.

import { commands, type Disposable, Range, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";
import type { ActivityChanged, ActivityShow, ActivityShown, CausedProblem } from "./activity-protocol";
import { addressOf } from "./changes";
import { short, visible } from "./escape";
import { when } from "./journal";
import { say } from "./notices";
import { type FilePreview, methods } from "./protocol";
import { shown } from "./schemes";
import type { Session } from "./session";
import type { Handler, Workbench } from "./workbench";

export const activityCommands: Record<string, Handler> = {
  "pillion.openCall": openCall,
  "pillion.goToProblem": goToProblem,
};

type Side = "before" | "after" | "text";

/** Gives the texts that openCall opens. */
export function showCalls(session: () => Session): Disposable {
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
