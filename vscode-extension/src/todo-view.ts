// The view “To-Dos”: what agents have planned, each item with a box. The user ticks, adds, removes and moves items here.

import {
  commands,
  DataTransferItem,
  FileDecoration,
  type FileDecorationProvider,
  ThemeColor,
  ThemeIcon,
  type TreeDragAndDropController,
  TreeItem,
  TreeItemCheckboxState,
  TreeItemCollapsibleState,
  Uri,
  window,
} from "vscode";
import { short, visible } from "./escape";
import type { SessionInfo, Todo } from "./session-protocol";
import { completed, moveTo, tick, type Todos } from "./todos";
import { Tree } from "./tree";

export type TodoNode = { kind: "list"; session: SessionInfo } | { kind: "todo"; session: SessionInfo; todo: Todo };

const dragged = "application/vnd.code.tree.pillion.todos";

export class TodoView extends Tree<TodoNode> {
  private readonly decorations = window.registerFileDecorationProvider(dim);

  constructor(private readonly todos: Todos) {
    super("pillion.todos", { dragAndDropController: dragging(todos), manageCheckboxStateManually: true });
    this.tree.onDidChangeCheckboxState(({ items }) => {
      items.forEach(([node, state]) => {
        this.rows.pressed(node, state);
        if (node.kind === "todo") {
          void this.todos.change(node.session.sessionId, tick(node.todo.id, state === TreeItemCheckboxState.Checked));
        }
      });
    });
  }

  override dispose(): void {
    this.decorations.dispose();
    super.dispose();
  }

  override refresh(): void {
    void commands.executeCommand("setContext", "pillion.hasTodos", this.todos.lists.length > 0);
    super.refresh();
  }

  protected below(node?: TodoNode): TodoNode[] {
    if (node) {
      return node.kind === "list" ? this.items(node.session) : [];
    }
    const { lists } = this.todos;
    const [only] = lists;
    return only?.connected && lists.length === 1 ? this.items(only) : lists.map((session) => ({ kind: "list", session }));
  }

  private items(session: SessionInfo): TodoNode[] {
    return this.todos.of(session).map((todo) => ({ kind: "todo", session, todo }));
  }

  getTreeItem(node: TodoNode): TreeItem {
    return node.kind === "list" ? listItem(node.session, this.todos.of(node.session)) : todoItem(node.session, node.todo);
  }
}

function dragging(todos: Todos): TreeDragAndDropController<TodoNode> {
  return {
    dragMimeTypes: [],
    dropMimeTypes: [dragged],
    handleDrag(source, transfer) {
      transfer.set(dragged, new DataTransferItem(source[0]));
    },
    async handleDrop(target, transfer) {
      const node = transfer.get(dragged)?.value as TodoNode | undefined;
      if (node?.kind === "todo" && (target === undefined || target.session.sessionId === node.session.sessionId)) {
        await todos.change(node.session.sessionId, moveTo(node.todo.id, target?.kind === "todo" ? target.todo.id : undefined));
      }
    },
  };
}

function listItem({ sessionId, agent, connected }: SessionInfo, todos: readonly Todo[]): TreeItem {
  const item = new TreeItem(short(agent.name, 40), TreeItemCollapsibleState.Expanded);
  item.id = sessionId;
  item.contextValue = "list";
  item.description = [`${String(completed(todos))} of ${String(todos.length)} done`, connected ? "" : "not connected"].filter(Boolean).join(" · ");
  item.tooltip = `${visible(agent.name)}: ${item.description}`;
  return item;
}

function todoItem({ sessionId }: SessionInfo, { id, content, status, priority }: Todo): TreeItem {
  const item = new TreeItem(short(content, 200));
  item.id = `${sessionId}\n${id}`;
  item.contextValue = `todo.${status}`;
  item.description = priority === "medium" ? "" : priority;
  item.checkboxState = {
    state: status === "completed" ? TreeItemCheckboxState.Checked : TreeItemCheckboxState.Unchecked,
    tooltip: status === "completed" ? "Mark as not done" : "Mark as done",
  };
  item.iconPath = status === "in_progress" ? new ThemeIcon("arrow-right", new ThemeColor("list.highlightForeground")) : new ThemeIcon("blank");
  if (status === "completed") {
    item.resourceUri = done;
  }
  item.tooltip = [visible(content), [words[status], `${priority} priority`].join(", ")].join("\n");
  item.accessibilityInformation = { label: `${short(content, 200)}, ${words[status]}` };
  return item;
}

/** Rows of what is done are dim: VS Code colours a row by its address alone. */
const done = Uri.from({ scheme: "pillion-todo", path: "/completed" });

const dim: FileDecorationProvider = {
  provideFileDecoration: ({ scheme }) => (scheme === done.scheme ? new FileDecoration(undefined, undefined, new ThemeColor("descriptionForeground")) : undefined),
};

const words: Record<Todo["status"], string> = { pending: "Not begun", in_progress: "In progress", completed: "Done" };
