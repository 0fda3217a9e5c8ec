// What waits for an answer and takes none yet. Until it does, the buttons in its title are grey.

import { commands, type Disposable } from "vscode";

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
