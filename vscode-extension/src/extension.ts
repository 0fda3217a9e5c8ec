// Where everything is put together; nothing is decided here.

import { type ExtensionContext, window } from "vscode";
import { Activity } from "./activity";
import { ActivityView } from "./activity-view";
import { Annotations } from "./annotations";
import { Announcer } from "./announcer";
import { Approvals } from "./approvals";
import { Changes } from "./changes";
import { registerCommands, watchFailures } from "./commands";
import { conversationParts } from "./conversation-view";
import { Documents } from "./documents";
import { Front } from "./front";
import { LineComments } from "./line-comments";
import { registerForModels } from "./models";
import { Pages } from "./pages";
import { processParts } from "./process-commands";
import { Prompts } from "./prompts";
import { Proposals } from "./proposal";
import { Session } from "./session";
import { sessionParts } from "./session-commands";
import { attend } from "./sidecar-handlers";
import { StatusBar } from "./status-bar";
import { Trust } from "./trust";
import { WaitingView } from "./view";
import { followSteps } from "./walkthrough";
import { trusted, watchFocus } from "./window-focus";

let session: Session | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  await trusted();
  const [log, now] = [window.createOutputChannel("Pillion", { log: true }), (): number => performance.now()];
  const [activity, approvals, documents, statusBar, left] = [new Activity(), new Approvals(now), new Documents(), new StatusBar(), processParts(() => sidecar)];
  const [pages, annotations, lineComments] = [new Pages(approvals), new Annotations(approvals), new LineComments(approvals)];
  const proposals = new Proposals(approvals, pages);
  const [front, prompts, talk] = [new Front(approvals, proposals, pages, now), new Prompts(refresh), conversationParts(context)];
  const [agents, trust] = [sessionParts(() => sidecar, approvals, refresh), new Trust(() => sidecar, pages, now, refresh)];
  const changes = new Changes(() => sidecar, documents, pages, agents.sessions, now, refresh);
  const [waitingView, activityView] = [new WaitingView(approvals, prompts, agents.sessions, trust, changes.unusual), new ActivityView(activity, changes.journal, () => sidecar)];
  const bench = { ...talk, ...agents, approvals, prompts, activity, documents, front, pages, trust, changes, lineComments, statusBar, waitingView, log, refresh, ...left };
  const sidecar: Session = (session = new Session(context, log, documents, (client) => attend(client, bench)));

  function refresh(): void {
    [waitingView, activityView, ...agents.views].forEach((view) => view.refresh());
    statusBar.update(sidecar.state, waitingView.count, activity.running, agents.sessions.connected);
  }

  [proposals, pages, annotations, lineComments, front, new Announcer(front), { added: refresh, changed: refresh, seen: refresh, removed: refresh }].forEach((one) => approvals.listen(one));
  sidecar.onDidChangeState(({ kind }) => {
    (kind === "ready" ? [] : [approvals, prompts, activity, agents.sessions, agents.drafts, agents.rules, trust, left.processes, changes, talk.conversations]).forEach((part) => part.end("sidecar stopped"));
    refresh();
    [changes, agents.sessions, agents.drafts].forEach((part) => part.lookSoon());
  });
  context.subscriptions.push(log, documents, statusBar, proposals, pages, annotations, lineComments, front, waitingView, activityView, ...agents.views, trust, changes, left.terminals, left.view, sidecar);
  context.subscriptions.push(...registerCommands({ ...bench, session: sidecar }), ...registerForModels(sidecar, context.extension));
  context.subscriptions.push(watchFocus(sidecar), watchFailures(sidecar), window.onDidChangeActiveColorTheme(refresh), followSteps(approvals, sidecar));
  await Promise.all([front.tidy(), changes.reverts.tidy()]).then(() => sidecar.restart());
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
