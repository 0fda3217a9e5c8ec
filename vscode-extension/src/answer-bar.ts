// The answers to a request as links: on top of its page, above the first change of each proposed file, and above each hunk of which you may
// take a part.

import { CodeLens, type CodeLensProvider, Disposable, EventEmitter, languages, Range, type TextDocument } from "vscode";
import { answersOf } from "./answer-words";
import type { Approvals } from "./approvals";
import { hunkSize } from "./hunk-items";
import { isWhole } from "./hunks";
import { approvalIdOf, page, pathOf, proposal } from "./schemes";

/** Of the machine that the extension runs on, which is most often the one with the keyboard. */
const modifier = process.platform === "darwin" ? "Cmd" : "Ctrl";

export class AnswerBar implements CodeLensProvider, Disposable {
  private readonly changes = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changes.event;
  private readonly registration = Disposable.from(languages.registerCodeLensProvider([{ scheme: page }, { scheme: proposal }], this), this.changes);

  constructor(private readonly approvals: Approvals) {}

  dispose(): void {
    this.registration.dispose();
  }

  refresh(): void {
    this.changes.fire();
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const { uri } = document;
    const approval = this.approvals.get(approvalIdOf(uri) ?? "");
    if (!approval) {
      return [];
    }
    const above = (line: number, title: string, command: string, tooltip: string, ...args: unknown[]): CodeLens => {
      const at = Math.min(line, document.lineCount - 1);
      return new CodeLens(new Range(at, 0, at, 0), { title, tooltip, command: `pillion.${command}`, arguments: args });
    };
    const path = uri.scheme === proposal ? pathOf(uri) : "";
    const hunks = approval.chosen.hunksOf(path).filter((hunk) => !isWhole(hunk));
    const [first] = hunks;
    const top = first ? approval.chosen.place(path, first).start : 0;
    const answers = answersOf(approval, modifier, path).map(({ title, command, tooltip, args }) => above(top, title, command, tooltip, ...(args ?? [uri])));
    const ticks = (approval.chosen.isOpen ? hunks : []).map((hunk) => {
      const title = approval.chosen.takes(hunk) ? "$(circle-slash)\u00a0Leave Out" : `$(add)\u00a0Include (${hunkSize(hunk)})`;
      return above(approval.chosen.place(path, hunk).start, title, "toggleHunk", `${hunk.title} (${modifier}+K H)`, approval.id, path, hunk.id);
    });
    return [...answers.slice(0, 2), ...ticks, ...answers.slice(2)];
  }
}
