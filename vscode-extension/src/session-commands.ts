// What a user does about an agent's session, its mode and its to-do list, and the parts that show them.

import { commands, type QuickPickItem, type QuickPickOptions, Uri, window } from "vscode";
import type { Approvals } from "./approvals";
import { Drafts } from "./drafts";
import { short, withoutIcons } from "./escape";
import { say } from "./notices";
import { approvalIdOf } from "./schemes";
import { openRule, type RuleNode, RulesView } from "./rules-view";
import type { Session } from "./session";
import type { ListedRule, SessionInfo, SessionUnusual } from "./session-protocol";
import { type SessionNode, SessionView } from "./session-view";
import { counts, draftWords, fullAccess, labelOf, modes } from "./session-words";
import { Sessions } from "./sessions";
import { type TodoNode, TodoView } from "./todo-view";
import { add, type ListChange, moveBy, remove, Todos } from "./todos";
import type { Entry } from "./view";
import type { Handler, Workbench } from "./workbench";

export const sessionCommands: Record<string, Handler> = {
  "pillion.sessions": () => commands.executeCommand("pillion.sessions.focus"),
  "pillion.todos": showTodos,
  "pillion.resume": resume,
  "pillion.changeMode": ({ sessions }) => changeMode(sessions),
  "pillion.changeModeInView": ({ sessions }, pressed) => changeMode(sessions, pointedAt(pressed)),
  "pillion.reviewDraft": reviewDraft,
  "pillion.discardDraft": discardDraft,
  "pillion.rules": () => commands.executeCommand("pillion.rules.focus"),
  "pillion.forgetRule": ({ rules }, pressed) => rules.forget((pressed as RuleNode & { kind: "rule" }).rule),
  "pillion.openRule": (_, rule) => openRule(rule as ListedRule),
  "pillion.endSession": endOne,
  "pillion.endSessionInView": endOne,
  "pillion.pauseAgent": pause,
  "pillion.pauseAgentInView": pause,
  "pillion.revertUnusual": ({ changes: { unusual } }, pressed) => aboutUnusual(pressed, (told) => unusual.revert(told)),
  "pillion.dismissUnusual": ({ changes: { unusual } }, pressed) => aboutUnusual(pressed, ({ sessionId }) => unusual.dismiss(sessionId)),
  "pillion.addTodo": addTodo,
  "pillion.removeTodo": (bench, pressed) => changeTodo(bench, pressed, remove),
  "pillion.moveTodoUp": (bench, pressed) => changeTodo(bench, pressed, (id) => moveBy(id, -1)),
  "pillion.moveTodoDown": (bench, pressed) => changeTodo(bench, pressed, (id) => moveBy(id, 1)),
};

interface SessionParts {
  sessions: Sessions;
  drafts: Drafts;
  todos: Todos;
  rules: RulesView;
  views: (SessionView | TodoView | RulesView)[];
}

export function sessionParts(session: () => Session, approvals: Approvals, changed: () => void): SessionParts {
  const sessions = new Sessions(session, changed);
  const todos = new Todos(sessions, changed);
  const rules = new RulesView(session, sessions);
  const drafts = new Drafts(session, approvals, changed);
  return { sessions, drafts, todos, rules, views: [new SessionView(sessions, approvals, drafts), new TodoView(todos), rules] };
}

/** The session of the row that was pressed. */
function pointedAt(pressed: unknown): SessionInfo | undefined {
  const node = pressed as SessionNode | Entry | undefined;
  return node?.kind === "session" || node?.kind === "paused" ? node.session : undefined;
}

/** The view is there as long as there is a list. */
async function showTodos({ todos }: Workbench): Promise<void> {
  if (todos.lists.length > 0) {
    await commands.executeCommand("pillion.todos.focus");
  } else if ((await say.information("No agent has a to-do list.", "Add To-Do…")) !== undefined) {
    await commands.executeCommand("pillion.addTodo");
  }
}

async function resume({ sessions }: Workbench, pressed: unknown): Promise<void> {
  const session = pointedAt(pressed);
  if (session) {
    await sessions.resume(session.sessionId);
  }
}

async function endOne({ sessions }: Workbench, pressed: unknown): Promise<void> {
  const session = pointedAt(pressed) ?? (await chooseAgent(sessions.connected, "End which session?"));
  if (!session) {
    return;
  }
  const name = short(session.agent.name, 40);
  const yes = { label: "$(trash) Yes, end it", detail: "Ends its calls and processes; forgets its to-do list and rules. Its changes stay." };
  if (await isSure(`keep the session of ${withoutIcons(name)}`, yes, { title: `End the session of ${name}?`, placeHolder: counts(session) })) {
    await sessions.close(session.sessionId);
  }
}

/** The answer that changes nothing comes first: it is what a stray Enter takes. */
async function isSure(no: string, yes: QuickPickItem, options: QuickPickOptions): Promise<boolean> {
  return (await window.showQuickPick([{ label: `$(close) No, ${no}` }, yes], options)) === yes;
}

/** Of the row or the review that was pressed, or that the user picks: the session of a draft. */
async function whichDraft({ approvals, drafts, front }: Workbench, pressed: unknown, title: string): Promise<string | undefined> {
  const node = pressed as SessionNode | undefined;
  if (node && "draft" in node) {
    return node.draft.sessionId;
  }
  const review = approvals.get((pressed instanceof Uri ? approvalIdOf(pressed) : front.focused) ?? "");
  if (review?.isDraft) {
    return review.request.sessionId;
  }
  const items = drafts.all.map((draft) => ({ label: withoutIcons(short(draft.agent, 40)), description: draftWords(draft), id: draft.sessionId }));
  if (items.length === 0) {
    void say.information("There is no draft. An agent in mode Draft makes one when it changes something.");
  }
  return (items.length <= 1 ? items[0] : await window.showQuickPick(items, { title }))?.id;
}

/** One that waits already comes up. */
async function reviewDraft(bench: Workbench, pressed: unknown): Promise<void> {
  const sessionId = await whichDraft(bench, pressed, "Review which draft?");
  const waiting = bench.drafts.review(sessionId ?? "");
  await (waiting ? bench.front.show(waiting.id) : sessionId !== undefined && bench.drafts.ask(sessionId));
}

async function discardDraft(bench: Workbench, pressed: unknown): Promise<void> {
  const { drafts } = bench;
  const sessionId = await whichDraft(bench, pressed, "Discard which draft?");
  if (sessionId === undefined) {
    return;
  }
  const files = drafts.size(sessionId);
  const yes = { label: `$(trash) Yes, discard ${files === 1 ? "1 file" : `${String(files)} files`}`, detail: "Nothing of it is applied, and it cannot be brought back." };
  if (await isSure("keep the draft", yes, { title: "Discard the draft?" })) {
    await drafts.discard(sessionId);
  }
}

/** What an agent may do without asking, for its session alone, and until that ends. */
async function changeMode(sessions: Sessions, pointedAt?: SessionInfo): Promise<void> {
  const agent = pointedAt ?? (await chooseAgent(sessions.connected, "Which agent?"));
  const mode = agent && (await window.showQuickPick(marked(agent.mode), { title: `What may ${short(agent.agent.name, 40)} do?` }))?.mode;
  if (mode && (mode !== fullAccess || agent.mode === fullAccess || (await confirmed(agent)))) {
    await sessions.setMode(agent.sessionId, mode);
    window.setStatusBarMessage(`$(check) Pillion: ${short(agent.agent.name, 40)} is in mode ${labelOf(mode)}`, 4000);
  }
}

function marked(present: string): (QuickPickItem & { mode: string })[] {
  return modes.map(({ name, icon, label, words }) => {
    const sign = name === present ? "check" : icon;
    return { label: `$(${sign}) ${label}`, description: name === fullAccess ? "asks again" : "", detail: words, mode: name };
  });
}

async function confirmed({ agent, mode }: SessionInfo): Promise<boolean> {
  const name = short(agent.name, 40);
  const yes = { label: `$(warning) Yes, ${name} may run any command as me`, detail: "Until its session ends or Pillion restarts." };
  const placeHolder = `${name} will change files and run commands without asking`;
  return isSure(`leave ${name} in mode ${labelOf(mode)}`, yes, { title: "Full access?", placeHolder, ignoreFocusOut: true });
}

/** Which agent the user means, of those that are connected. The only one is meant without a word. */
async function chooseAgent(sessions: readonly SessionInfo[], title: string, placeHolder?: string): Promise<SessionInfo | undefined> {
  if (sessions.length === 0) {
    void say.information("No agent is connected. Connect one with Pillion: Connect an Agent…");
  }
  if (sessions.length <= 1) {
    return sessions[0];
  }
  const items = sessions.map((session) => ({ label: withoutIcons(short(session.agent.name, 40)), description: short(session.mode, 20), session }));
  return (await window.showQuickPick(items, { title, ...(placeHolder === undefined ? {} : { placeHolder }) }))?.session;
}

async function changeTodo({ todos }: Workbench, pressed: unknown, how: (id: string) => ListChange): Promise<void> {
  const node = pressed as TodoNode | undefined;
  await (node?.kind === "todo" ? todos.change(node.session.sessionId, how(node.todo.id)) : undefined);
}

/** To the list that the user points at, or the one of the agent that they pick. */
async function addTodo({ sessions, todos }: Workbench, pressed: unknown): Promise<void> {
  const session = (pressed as TodoNode | undefined)?.session ?? (await chooseAgent(sessions.connected, "Whose to-do list?"));
  if (!session) {
    return;
  }
  const content = await window.showInputBox({ title: `Add to the to-do list of ${short(session.agent.name, 40)}`, placeHolder: "What should it do?", prompt: "The agent gets it with its next result" });
  if (content?.trim()) {
    await todos.change(session.sessionId, add(content.trim()));
  }
}

function aboutUnusual<T>(pressed: unknown, act: (told: SessionUnusual) => T): T | undefined {
  const entry = pressed as Entry | undefined;
  return entry?.kind === "unusual" ? act(entry.unusual) : undefined;
}

/** From a row of a view, or whom the user picks. */
async function pause({ sessions, changes: { unusual } }: Workbench, pressed: unknown): Promise<void> {
  const working = sessions.connected.filter(({ paused }) => !paused);
  const placeHolder = "Its calls are rejected until you resume it";
  const sessionId = aboutUnusual(pressed, (told) => told.sessionId) ?? (pointedAt(pressed) ?? (await chooseAgent(working, "Pause which agent?", placeHolder)))?.sessionId;
  if (sessionId !== undefined) {
    await unusual.pause(sessionId);
  }
}
