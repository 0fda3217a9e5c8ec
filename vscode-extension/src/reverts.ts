// Takes back what an agent changed, once the user has seen what that would do: a diff of the one file, or a page that lists
// several. One preview at a time. Its yes is a title button, takes nothing in the first half second, and closing changes nothing.

import { CodeLens, commands, Disposable, languages, Range, type TextDocument, Uri, window } from "vscode";
import { short, visible } from "./escape";
import { size } from "./hunks";
import type { Target } from "./journal";
import { errorText, say } from "./notices";
import type { Pages } from "./pages";
import { type FilePreview, type JournalReverted, methods } from "./protocol";
import { changesAnything, filesOf, linesSayAll, mergedWords, onlyDiff, outcome, revertPage } from "./revert-page";
import { address, isRevert, openStack, revert, revertAfter, revertBefore, tabsWith } from "./schemes";
import type { Session } from "./session";
import { InSight } from "./too-soon";

interface Preview {
  id: string;
  target: Target;
  result: JournalReverted;
  places: ReadonlyMap<string, number>;
}

/** Several files change in one moment; one more look is enough. */
const settleMs = 200;

export class Reverts implements Disposable {
  private shown: Preview | undefined;
  private count = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly inSight: InSight;
  private readonly subscriptions: Disposable;

  constructor(
    private readonly session: () => Session,
    private readonly pages: Pages,
    now: () => number,
  ) {
    const early = (): string[] => (this.shown && !this.inSight.isArmed ? addresses(this.shown).map(String) : []); // all of it is one preview
    this.inSight = new InSight("pillion.revertTooSoon", now, (tabs) => tabs.filter(isRevert).map(String), early);
    this.subscriptions = Disposable.from(
      languages.registerCodeLensProvider([{ scheme: revert }, { scheme: revertAfter }], { provideCodeLenses: (document) => this.lenses(document) }),
      this.inSight,
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscriptions.dispose();
  }

  /** Tabs that VS Code kept from an earlier life of this window, or that nobody needs any more. */
  async tidy(): Promise<void> {
    const former = this.shown ? addresses(this.shown) : [];
    this.shown = undefined;
    this.look();
    await window.tabGroups.close(tabsWith(isRevert));
    former.filter(({ scheme }) => scheme !== revert).forEach((side) => this.pages.forget(side));
  }

  async preview(target: Target): Promise<void> {
    const result = await this.ask(target, true);
    if (!result) {
      return;
    }
    if (!changesAnything(result) && (result.conflicts ?? []).length === 0) {
      void say.information(`There is nothing left to revert: ${short(target.name, 120)}.`);
      return;
    }
    await this.tidy();
    this.count += 1;
    this.shown = { id: String(this.count), target, result, places: new Map() };
    this.look();
    this.put(this.shown);
    await this.open(this.shown);
  }

  /** One diff, several below one another, or a page where lines do not say it all. */
  private async open(shown: Preview): Promise<void> {
    const [only, files] = [onlyDiff(shown.result), filesOf(shown.result)];
    if (only) {
      await this.openDiff(only.path);
    } else if (linesSayAll(shown.result)) {
      await openStack(`Revert ${short(shown.target.name, 80)}?`, files.map(({ path }) => ({ left: address(revertBefore, shown.id, path), right: address(revertAfter, shown.id, path) })));
      this.look();
    } else {
      await this.openPage(shown);
    }
  }

  /** Opens one of its files as a diff. */
  async openDiff(path: string): Promise<void> {
    const file = this.shown && filesOf(this.shown.result).find((candidate) => candidate.path === path);
    if (this.shown && file) {
      const [left, right] = [revertBefore, revertAfter].map((scheme) => address(scheme, this.shown?.id ?? "", path)) as [Uri, Uri];
      await commands.executeCommand("vscode.diff", left, right, diffTitle(file, this.shown.result), { preview: false });
      this.look();
    }
  }

  /** The yes, from the title of what is on show. */
  async revertNow(): Promise<void> {
    const { shown } = this;
    if (!shown || !this.inSight.isArmed) {
      window.setStatusBarMessage("$(watch) Pillion: too fast, press again: nothing was reverted", 4000);
      return;
    }
    if (!changesAnything(shown.result)) {
      window.setStatusBarMessage("$(circle-slash) Pillion: there is nothing to revert", 4000);
      return;
    }
    this.inSight.forget(); // once
    const result = await this.ask(shown.target, false);
    if (!result) {
      this.look();
      return;
    }
    await this.tidy();
    await this.tell(result);
  }

  /** These files changed, or all when none is named: what is on show may be something else now. */
  touched(paths: readonly string[]): void {
    const concerned = new Set(this.shown ? [...filesOf(this.shown.result).flatMap(({ path, to }) => [path, to]), ...(this.shown.result.conflicts ?? [])] : []);
    if (this.shown && (paths.includes("") || paths.some((path) => concerned.has(path)))) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.refresh(), settleMs);
    }
  }

  end(): void {
    void this.tidy();
  }

  private async refresh(): Promise<void> {
    const { shown } = this;
    const result = shown && (await this.ask(shown.target, true));
    if (result && this.shown === shown && JSON.stringify(result) !== JSON.stringify(shown.result)) {
      const former = addresses(shown);
      shown.result = result;
      const now = addresses(shown).map(String);
      former.filter((side) => !now.includes(side.toString())).forEach((side) => this.pages.forget(side));
      this.put(shown);
      this.inSight.forget();
      this.look();
      const page = !onlyDiff(result) && !linesSayAll(result);
      if (page && tabsWith(isRevert).length > 0 && tabsWith(({ scheme }) => scheme === revert).length === 0) {
        await this.openPage(shown);
      }
    }
  }

  async ask({ selector, name }: Target, dryRun: boolean): Promise<JournalReverted | undefined> {
    try {
      return await this.session().request<JournalReverted>(methods.journalRevert, { ...selector, ...(dryRun ? { dryRun } : {}) });
    } catch (error) {
      void say.error(`Nothing was reverted: ${visible(errorText(error))} (${short(name, 120)})`);
      return undefined;
    }
  }

  private async tell(result: JournalReverted): Promise<void> {
    const all = (result.conflicts ?? []).length === 0;
    const told = all ? say.information : say.warning;
    const actions = result.callId ? ["Take It Back…"] : [];
    if ((await told(outcome(result), ...actions)) && result.callId) {
      await this.preview({ selector: { callId: result.callId }, name: "that revert" });
    }
  }

  private put(shown: Preview): void {
    const page = revertPage(shown.target.name, shown.result);
    shown.places = page.places;
    this.pages.put(pageOf(shown), page);
    for (const { path, before, after } of filesOf(shown.result).filter(({ text }) => text)) {
      this.pages.putText(address(revertBefore, shown.id, path), before);
      this.pages.putText(address(revertAfter, shown.id, path), after);
    }
  }

  private async openPage(shown: Preview): Promise<void> {
    await this.pages.present(pageOf(shown), revertPage(shown.target.name, shown.result));
    this.look();
  }

  private lenses(document: TextDocument): CodeLens[] {
    const { shown } = this;
    if (!shown || document.uri.authority !== pageOf(shown).authority) {
      return [];
    }
    const lens = (line: number, title: string, command: string, path = ""): CodeLens => new CodeLens(new Range(line, 0, line, 0), { title, command: `pillion.${command}`, arguments: [path] });
    const yes = changesAnything(shown.result) ? [lens(0, "$(discard)\u00a0Revert", "revertNow")] : [];
    const files = document.uri.scheme === revert ? filesOf(shown.result).filter(({ text }) => text) : [];
    return [...yes, ...files.map(({ path }) => lens(shown.places.get(path) ?? 0, "$(diff)\u00a0Open the Diff", "openRevertDiff", path))];
  }

  private look(): void {
    void commands.executeCommand("setContext", "pillion.canRevert", this.shown !== undefined && changesAnything(this.shown.result));
    this.inSight.look();
  }
}

function pageOf({ id }: Preview): Uri {
  return address(revert, id, "Revert?");
}

/** Of everything that shows it. */
function addresses(preview: Preview): Uri[] {
  const sides = filesOf(preview.result).flatMap(({ path }) => [revertBefore, revertAfter].map((scheme) => address(scheme, preview.id, path)));
  return [...sides, pageOf(preview)];
}

function diffTitle(file: FilePreview, { merged }: JournalReverted): string {
  const name = visible(file.path.split("/").at(-1) ?? file.path);
  const words = (merged ?? []).includes(file.path) ? `, ${mergedWords}` : "";
  return `${name}: now ↔ after the revert ${size([file])}${words}`;
}
