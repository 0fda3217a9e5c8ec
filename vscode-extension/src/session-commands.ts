// What a user does about an agent's session, and the parts that show sessions and their to-do lists.

import { commands, window } from "vscode";
import type { Approvals } from "./approvals";
import { short, withoutIcons } from "./escape";
import { changeMode } from "./modes";
import { say } from "./notices";
import { openRule, type RuleNode, RulesView } from "./rules-view";
import { chooseAgent } from "./session-choice";
import type { ListedRule, SessionInfo } from "./session-protocol";
import { type SessionNode, SessionView } from "./session-view";
import { counts } from "./session-words";
import type { Session } from "./session";
import { Sessions } from "./sessions";
import { TodoView } from "./todo-view";
import { Todos } from "./todos";
import type { Entry } from "./view";
import type { Handler, Workbench } from "./workbench";

export const sessionCommands: Record<string, Handler> = {
  "pillion.sessions": () => commands.executeCommand("pillion.sessions.focus"),
  "pillion.todos": showTodos,
  "pillion.resume": resume,
  "pillion.changeMode": ({ sessions }) => changeMode(sessions),
  "pillion.changeModeInView": ({ sessions }, pressed) => changeMode(sessions, pointedAt(pressed)),
  "pillion.rules": () => commands.executeCommand("pillion.rules.focus"),
  "pillion.forgetRule": ({ rules }, pressed) => rules.forget((pressed as RuleNode & { kind: "rule" }).rule),
  "pillion.openRule": (_, rule) => openRule(rule as ListedRule),
  "pillion.endSession": endOne,
  "pillion.endSessionInView": endOne,
};

export interface SessionParts {
  sessions: Sessions;
  todos: Todos;
  rules: RulesView;
  views: (SessionView | TodoView | RulesView)[];
}

export function sessionParts(session: () => Session, approvals: Approvals, changed: () => void): SessionParts {
  const sessions = new Sessions(session, changed);
  const todos = new Todos(sessions, changed);
  const rules = new RulesView(session, sessions);
  return { sessions, todos, rules, views: [new SessionView(sessions, approvals), new TodoView(todos), rules] };
}

/** The session of the row that was pressed. */
export function pointedAt(pressed: unknown): SessionInfo | undefined {
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

/** The answer that changes nothing comes first: it is what a stray Enter takes. */
async function endOne({ sessions }: Workbench, pressed: unknown): Promise<void> {
  const session = pointedAt(pressed) ?? (await chooseAgent(sessions.connected, "End which session?"));
  if (!session) {
    return;
  }
  const name = short(session.agent.name, 40);
  const items = [
    { label: `$(close) No, keep the session of ${withoutIcons(name)}`, yes: false },
    { label: "$(trash) Yes, end it", detail: "Ends its calls and processes; forgets its to-do list and rules. Its changes stay.", yes: true },
  ];
  if ((await window.showQuickPick(items, { title: `End the session of ${name}?`, placeHolder: counts(session) }))?.yes === true) {
    await sessions.close(session.sessionId);
  }
}
