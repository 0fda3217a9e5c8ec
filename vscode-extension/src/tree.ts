// What the views that are trees have in common: each draws anew what does not look as it did. While VS Code draws a row anew it does not know
// the rows below it, and what is pressed in that moment is lost: so each row is drawn by itself, and one whose box VS Code has drawn as it was
// pressed is left alone.

import { type Disposable, EventEmitter, type TreeDataProvider, type TreeItem, type TreeView, type TreeViewOptions, window } from "vscode";

export abstract class Tree<T extends object> implements TreeDataProvider<T>, Disposable {
  private readonly changes = new EventEmitter<T[] | undefined>();
  protected readonly rows = new DrawnRows<T>((node) => this.below(node), (node) => this.getTreeItem(node));
  protected readonly tree: TreeView<T>;
  readonly onDidChangeTreeData = this.changes.event;

  constructor(id: string, options: Omit<TreeViewOptions<T>, "treeDataProvider"> = {}) {
    this.tree = window.createTreeView(id, { ...options, treeDataProvider: this });
  }

  dispose(): void {
    this.tree.dispose();
    this.changes.dispose();
  }

  /** Those below a row, or at the top. */
  protected abstract below(node?: T): readonly T[];

  abstract getTreeItem(node: T): TreeItem;

  getChildren(node?: T): T[] {
    return this.below(node).map((child) => this.rows.known(child));
  }

  refresh(): void {
    const different = this.rows.different();
    if (different?.length !== 0) {
      this.changes.fire(different);
    }
  }
}

/** What is looked at of a TreeItem. */
interface Item {
  id?: string | undefined;
  label?: unknown;
  description?: unknown;
  contextValue?: string | undefined;
  tooltip?: string | { value: string } | undefined;
  checkboxState?: number | { state: number } | undefined;
}

interface Row {
  look: string;
  box: number | undefined;
  /** The ids of the rows below it. */
  below: string;
}

/** What the rows are kept under that are below no other. */
const top = "";

/** The ids of rows are unique in the tree. */
export class DrawnRows<T extends object> {
  private entries = new Map<string, T>();
  private rows = new Map<string, Row>();

  constructor(
    private readonly below: (entry?: T) => readonly T[],
    private readonly item: (entry: T) => Item,
  ) {}

  /** VS Code knows a row by its object, which stays the same for as long as it is there. */
  known(entry: T): T {
    const id = this.id(entry);
    const known = Object.assign(this.entries.get(id) ?? entry, entry);
    this.entries.set(id, known);
    return known;
  }

  /** VS Code has drawn this box by itself. */
  pressed(entry: T, box: number): void {
    const row = this.rows.get(this.id(entry));
    if (row) {
      row.box = box;
    }
  }

  /** Those that do not look as they were drawn last; undefined for the tree as a whole. */
  different(): T[] | undefined {
    const drawn = this.rows;
    this.rows = new Map();
    this.look(undefined);
    const gone = [...this.entries.keys()].filter((id) => !this.rows.has(id));
    gone.forEach((id) => this.entries.delete(id));
    const ids = [...this.rows].filter(([id, row]) => !isSame(drawn.get(id), row)).map(([id]) => id);
    return ids.includes(top) ? undefined : ids.flatMap((id) => this.entries.get(id) ?? []);
  }

  private look(entry: T | undefined): void {
    const item = entry && this.item(entry);
    const below = this.below(entry).map((child) => this.known(child));
    this.rows.set(item?.id ?? top, { look: JSON.stringify(item ? wordsOf(item) : []), box: boxOf(item), below: JSON.stringify(below.map((child) => this.id(child))) });
    below.forEach((child) => this.look(child));
  }

  private id(entry: T): string {
    return this.item(entry).id ?? "";
  }
}

function wordsOf({ label, description, contextValue, tooltip }: Item): unknown[] {
  return [label, description, contextValue, typeof tooltip === "object" ? tooltip.value : tooltip];
}

function boxOf(item: Item | undefined): number | undefined {
  const box = item?.checkboxState;
  return typeof box === "object" ? box.state : box;
}

function isSame(drawn: Row | undefined, row: Row): boolean {
  return drawn?.look === row.look && drawn.box === row.box && drawn.below === row.below;
}
