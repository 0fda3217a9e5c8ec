// What waits for an answer and takes none yet. Until it does, the buttons in its title are grey.

import { commands, Disposable, type Uri, window } from "vscode";
import { inertMs } from "./approvals";
import { urisInFront } from "./schemes";

const againMs = 50;

export class TooSoon implements Disposable {
  private told = "";
  private timer: NodeJS.Timeout | undefined;

  /** `which` gives the addresses, which a menu finds under `key`, and whether one will take an answer without anything else happening. */
  constructor(
    private readonly key: string,
    private readonly which: () => { addresses: readonly string[]; passes: boolean },
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
  }

  /** Tells the menus, as often as it is different. */
  look(): void {
    const { addresses, passes } = this.which();
    if (addresses.join("\n") !== this.told) {
      this.told = addresses.join("\n");
      void commands.executeCommand("setContext", this.key, addresses);
    }
    clearTimeout(this.timer);
    this.timer = passes ? setTimeout(() => this.look(), againMs) : undefined;
  }
}

/** What waits on pages in the tabs: what comes into sight takes no answer at first. */
export class InSight implements Disposable {
  /** Since when what is on the screen is there, by its name. */
  private readonly since = new Map<string, number>();
  private readonly tooSoon: TooSoon;
  private readonly subscriptions: Disposable;

  /** `names` are those of what these tabs show, `early` the addresses of all that takes no answer yet. */
  constructor(
    key: string,
    private readonly now: () => number,
    private readonly names: (tabs: readonly Uri[]) => readonly string[],
    early: () => readonly string[],
  ) {
    this.tooSoon = new TooSoon(key, () => ({ addresses: early(), passes: this.since.size > 0 && !this.isArmed }));
    this.subscriptions = Disposable.from(
      this.tooSoon,
      window.tabGroups.onDidChangeTabs(() => this.look()),
      window.tabGroups.onDidChangeTabGroups(() => this.look()),
      window.onDidChangeVisibleTextEditors(() => this.look()), // a busy window may tell of the tab before it is in front, and nothing more of it
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  look(): void {
    const names = new Set(this.names(urisInFront()));
    [...this.since.keys()].filter((name) => !names.has(name)).forEach((name) => this.since.delete(name));
    names.forEach((name) => this.since.set(name, this.since.get(name) ?? this.now()));
    this.tooSoon.look();
  }

  takesAnswer(name: string): boolean {
    return this.now() >= (this.since.get(name) ?? Infinity) + inertMs;
  }

  /** Whether all that is in sight takes one. */
  get isArmed(): boolean {
    return this.since.size > 0 && [...this.since.keys()].every((name) => this.takesAnswer(name));
  }

  /** It is something else now, to be read first; without a name all of it is. */
  forget(name?: string): void {
    [...this.since.keys()].filter((other) => name === undefined || other === name).forEach((other) => this.since.delete(other));
    this.tooSoon.look();
  }
}
