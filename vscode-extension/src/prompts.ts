// Questions that an agent asks the user (`prompt/user`). Never modal: a question waits in the view until somebody picks
// an answer or cancels it there; a notification or a list that vanishes answers nothing.

import { type CancellationToken, type Disposable, window } from "vscode";
import { short, visible, visibleLines } from "./escape";
import { announce, say } from "./notices";
import type { Pages } from "./pages";
import type { PromptAnswer, PromptRequest } from "./protocol";
import { lineWidth } from "./request-page";
import { address, question } from "./schemes";
import { type Page, Sheet } from "./sheet";

export interface Prompt extends PromptRequest {
  answer(action: string): void;
}

function questionPage(title: string, message: string): Page {
  const sheet = new Sheet();
  sheet.line(title, "heading");
  sheet.gap();
  visibleLines(message).forEach((line) => { sheet.line(`  ${line}`); });
  sheet.gap();
  sheet.line("Choose an answer in the list. It stays open as long as nobody answers: the view Waiting for You has it.", "muted");
  return sheet.page();
}

export class Prompts {
  private readonly waiting = new Map<string, Prompt>();

  constructor(private readonly changed: () => void) {}

  get all(): readonly Prompt[] {
    return [...this.waiting.values()];
  }

  open(request: PromptRequest, token: CancellationToken, gone: () => Error): Promise<PromptAnswer> {
    const answered = this.wait(request, token, gone);
    void announce(`${visible(request.agent.name)} asks: ${short(request.message, 200)}`, { title: "Answer…", command: "pillion.answerPrompt", id: request.promptId }, answered.catch(() => undefined));
    return answered;
  }

  private async wait(request: PromptRequest, token: CancellationToken, gone: () => Error): Promise<PromptAnswer> {
    let cancelled: Disposable | undefined;
    try {
      return await new Promise<PromptAnswer>((resolve, reject) => {
        cancelled = token.onCancellationRequested(() => {
          reject(gone());
        });
        const answer = (action: string): void => {
          resolve({ action });
        };
        const prompt: Prompt = { ...request, answer };
        this.waiting.set(request.promptId, prompt);
        this.changed();
      });
    } finally {
      cancelled?.dispose();
      this.waiting.delete(request.promptId);
      this.changed();
    }
  }

  /** Lets the user choose; a question that a line has no room for stands on a page behind the list. Leaving the list leaves it waiting. */
  async pick(promptId: string, pages: Pages): Promise<void> {
    const prompt = this.waiting.get(promptId);
    if (!prompt) {
      void say.information("That question was already answered or withdrawn.");
      return;
    }
    const items = [
      ...(prompt.actions ?? []).map((action) => ({ label: visible(action), action })),
      { label: "$(close) Cancel", description: "no answer; the agent goes on", action: "cancel" },
    ];
    const title = `${short(prompt.agent.name, 40)} asks`;
    if (prompt.message.length > lineWidth) {
      await pages.present(address(question, promptId, title), questionPage(title, prompt.message));
    }
    const chosen = await window.showQuickPick(items, { title, placeHolder: short(prompt.message, 300), ignoreFocusOut: true });
    if (chosen) {
      this.waiting.get(promptId)?.answer(chosen.action);
    }
  }

  end(): void {
    for (const prompt of this.all) {
      this.waiting.delete(prompt.promptId);
    }
    this.changed();
  }
}
