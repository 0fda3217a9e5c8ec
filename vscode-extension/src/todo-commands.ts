// What a user does to agents' to-do lists, beside ticking and dragging.

import { window } from "vscode";
import { short } from "./escape";
import { chooseAgent } from "./session-choice";
import { add, moveBy, remove } from "./todo-list";
import type { TodoNode } from "./todo-view";
import type { Handler, Workbench } from "./workbench";

export const todoCommands: Record<string, Handler> = {
  "pillion.addTodo": addOne,
  "pillion.removeTodo": (bench, ...pressed) => about(pressed, ({ session, todo }) => bench.todos.change(session.sessionId, remove(todo.id))),
  "pillion.moveTodoUp": (bench, ...pressed) => about(pressed, ({ session, todo }) => bench.todos.change(session.sessionId, moveBy(todo.id, -1))),
  "pillion.moveTodoDown": (bench, ...pressed) => about(pressed, ({ session, todo }) => bench.todos.change(session.sessionId, moveBy(todo.id, 1))),
};

function about<T>([pressed]: unknown[], act: (node: TodoNode & { kind: "todo" }) => T): T | undefined {
  const node = pressed as TodoNode | undefined;
  return node?.kind === "todo" ? act(node) : undefined;
}

/** To the list that the user points at, or the one of the agent that they pick. */
async function addOne({ sessions, todos }: Workbench, pressed: unknown): Promise<void> {
  const session = (pressed as TodoNode | undefined)?.session ?? (await chooseAgent(sessions.connected, "Whose to-do list?"));
  if (!session) {
    return;
  }
  const content = await window.showInputBox({ title: `Add to the to-do list of ${short(session.agent.name, 40)}`, placeHolder: "What should it do?", prompt: "The agent gets it with its next result" });
  if (content?.trim()) {
    await todos.change(session.sessionId, add(content.trim()));
  }
}
