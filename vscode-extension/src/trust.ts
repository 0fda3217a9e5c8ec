// What the project's settings would loosen if the user trusted them (`settings/untrusted`). Nothing of it counts before they
// did, on a page that shows every rule; and the answer is for exactly the file that the page showed.

import { CodeLens, type CodeLensProvider, Disposable, languages, Range, type TextDocument, type Uri, window } from "vscode";
import { visible } from "./escape";
import { errorText, say } from "./notices";
import type { Pages } from "./pages";
import { methods, type SettingsTrust, type SettingsUntrusted } from "./protocol";
import { address, tabsWith, trust, trustedPathOf } from "./schemes";
import type { Session } from "./session";
import { type Page, Sheet } from "./sheet";
import { InSight } from "./too-soon";

export class Trust implements CodeLensProvider, Disposable {
  private readonly asked = new Map<string, SettingsUntrusted>();
  /** What the user ignored, and looks at again. */
  private reopened: SettingsUntrusted | undefined;
  private readonly inSight: InSight;
  private readonly subscription: Disposable;

  constructor(
    private readonly session: () => Session,
    private readonly pages: Pages,
    now: () => number,
    private readonly changed: () => void,
  ) {
    this.inSight = new InSight(
      "pillion.trustTooSoon",
      now,
      (tabs) => this.open.filter(({ path }) => tabs.some((uri) => trustedPathOf(uri) === path)).map(textOf),
      () => this.open.filter((one) => !this.inSight.takesAnswer(textOf(one))).map(({ path }) => pageOf(path).toString()),
    );
    this.subscription = Disposable.from(this.inSight, languages.registerCodeLensProvider({ scheme: trust }, this));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  get all(): readonly SettingsUntrusted[] {
    return [...this.asked.values()];
  }

  hear(untrusted: SettingsUntrusted): void {
    const count = (untrusted.rules ?? []).length;
    const before = this.asked.get(untrusted.path);
    this.reopened = this.reopened?.path === untrusted.path ? undefined : this.reopened;
    if (count === 0) {
      this.asked.delete(untrusted.path);
    } else {
      this.asked.set(untrusted.path, untrusted);
    }
    this.pages.put(pageOf(untrusted.path), trustPage(untrusted));
    this.inSight.forget(textOf(untrusted));
    this.inSight.look();
    this.changed();
    if (count > 0 && before?.hash !== untrusted.hash) {
      void this.announce(untrusted, count);
    }
  }

  /** The user asked to see it. */
  async show(untrusted: SettingsUntrusted | undefined): Promise<void> {
    if (!untrusted) {
      void say.information("Nothing in the project's settings needs your trust.");
      return;
    }
    this.reopened = this.asked.has(untrusted.path) ? undefined : untrusted;
    await this.pages.present(pageOf(untrusted.path), trustPage(untrusted));
    this.inSight.look();
  }

  async trust(path: string): Promise<void> {
    await this.answer(path, methods.settingsTrust, "the project's rules count until its settings change");
  }

  /** Nobody is asked again about this text of the file. */
  async ignore(path: string): Promise<void> {
    await this.answer(path, methods.settingsIgnore, "the project's rules are ignored until its settings change");
  }

  provideCodeLenses({ uri }: TextDocument): CodeLens[] {
    const at = new Range(0, 0, 0, 0);
    return this.open.some(({ path }) => path === trustedPathOf(uri))
      ? [new CodeLens(at, { title: "$(check)\u00a0Trust These Rules", command: "pillion.trust", arguments: [uri] }), new CodeLens(at, { title: "$(close)\u00a0Ignore These Rules", command: "pillion.ignoreRules", arguments: [uri] })]
      : [];
  }

  private async answer(path: string, method: string, said: string): Promise<void> {
    const shown = this.open.find((one) => one.path === path);
    if (!shown || !this.inSight.takesAnswer(textOf(shown))) {
      window.setStatusBarMessage("$(watch) Pillion: too fast, press again: nothing was answered", 4000);
      return;
    }
    try {
      await this.session().request(method, { path, hash: shown.hash } satisfies SettingsTrust);
    } catch (error) {
      void say.warning(`Your answer does not count: ${errorText(error)}`);
      return;
    }
    await window.tabGroups.close(tabsWith((uri) => trustedPathOf(uri) === path));
    window.setStatusBarMessage(`$(check) Pillion: ${said}`, 4000);
  }

  end(): void {
    this.reopened = undefined;
    this.all.forEach(({ path, hash }) => this.hear({ path, hash, rules: [] }));
  }

  private get open(): SettingsUntrusted[] {
    return [...this.all, ...(this.reopened ? [this.reopened] : [])];
  }

  private async announce({ path }: SettingsUntrusted, count: number): Promise<void> {
    const rules = count === 1 ? "One rule counts" : `${String(count)} rules count`;
    if ((await say.information(`This project's settings ask for more than you allow. ${rules} only once you trust them.`, "Show")) === "Show") {
      await this.show(this.asked.get(path));
    }
  }
}

function pageOf(path: string): Uri {
  return address(trust, path, "Trust these settings?");
}

/** What is answered is exactly this text of the file. */
function textOf({ path, hash }: SettingsUntrusted): string {
  return `${hash} ${path}`;
}

export function trustPage({ path, rules, problems }: SettingsUntrusted): Page {
  const sheet = new Sheet();
  if ((rules ?? []).length === 0) {
    sheet.line("Nothing in the project's settings needs your trust", "heading");
    sheet.gap();
    sheet.line("You can close this tab.");
    return sheet.page();
  }
  sheet.line("This project's settings ask for more than you allow", "heading");
  sheet.gap();
  sheet.code((rules ?? []).map(visible), "  ", "  ");
  sheet.gap();
  if (problems?.length) {
    sheet.fact({ label: "No effect", text: "", items: problems.map(visible), tone: "warning" });
    sheet.gap();
  }
  sheet.fact({ label: "File", text: visible(path) });
  sheet.fact({ label: "Until then", text: "none of these rules apply; those that restrict agents already do" });
  sheet.gap();
  sheet.answer("Trust These Rules", "they apply in this folder, on this machine, until the file changes");
  sheet.answer("Ignore These Rules", "none of them apply, and you are not asked again until the file changes");
  sheet.answer("Close this tab", "nothing changes; the request stays in the view");
  return sheet.page();
}
