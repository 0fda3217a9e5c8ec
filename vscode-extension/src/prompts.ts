// Questions that an agent asks the user (`prompt/user`). Never modal: a question waits in the view until somebody picks
// an answer or cancels it there; a notification or a list that vanishes answers nothing.

import { type CancellationToken, type Disposable, window } from "vscode";
import { short, visible, visibleLines, withoutLinks } from "./escape";
import { announce, say } from "./notices";
import type { Pages } from "./pages";
import type { PromptAnswer, PromptRequest } from "./protocol";
import { lineWidth, wordsPage } from "./request-page";
import { address, question } from "./schemes";

export interface Prompt extends PromptRequest {
  answer(action: string, feedback?: string): void;
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
        cancelled = token.onCancellationRequested(() => reject(gone()));
        const answer = (action: string, feedback?: string): void => resolve({ action, ...(feedback === undefined ? {} : { feedback }) });
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
      { label: "$(edit) Write an Answer…", description: "in your own words", action: undefined },
      { label: "$(close) Cancel", description: "no answer; the agent goes on", action: "cancel" },
    ];
    const title = `${short(prompt.agent.name, 40)} asks`;
    const onPage = prompt.message.length > lineWidth;
    if (onPage) {
      await pages.present(address(question, promptId, title), wordsPage(title, visibleLines(prompt.message), items.length + 2));
    }
    const words = onPage ? "Choose an answer, or write one" : visible(prompt.message);
    const chosen = await window.showQuickPick(items, { title, placeHolder: words, ignoreFocusOut: true });
    if (chosen?.action !== undefined) {
      this.waiting.get(promptId)?.answer(chosen.action);
    } else if (chosen) {
      await this.write(promptId, title, onPage ? "The question is below." : visible(prompt.message));
    }
  }

  private async write(promptId: string, title: string, question: string): Promise<void> {
    const validateInput = (text: string): string | undefined => (text.trim() === "" ? "Write something, or press Escape: the question stays" : undefined);
    const text = await window.showInputBox({ title, prompt: withoutLinks(question), placeHolder: "your answer", ignoreFocusOut: true, validateInput });
    if (text !== undefined) {
      this.waiting.get(promptId)?.answer("cancel", text);
    }
  }

  end(): void {
    this.waiting.clear();
    this.changed();
  }
}
