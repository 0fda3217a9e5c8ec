// Questions that an agent asks the user (`prompt/user`). Never modal: a question waits in the view until somebody picks
// an answer or cancels it there; a notification or a list that vanishes answers nothing.

import { type CancellationToken, type Disposable, window } from "vscode";
import { short, visible } from "./escape";
import { announce, say } from "./notices";
import type { PromptAnswer, PromptRequest } from "./protocol";

export interface Prompt extends PromptRequest {
  answer(action: string): void;
}

export class Prompts {
  private readonly waiting = new Map<string, Prompt>();

  constructor(private readonly changed: () => void) {}

  get all(): readonly Prompt[] {
    return [...this.waiting.values()];
  }

  open(request: PromptRequest, token: CancellationToken, gone: () => Error): Promise<PromptAnswer> {
    const answered = this.wait(request, token, gone);
    void announce(short(request.message, 200), { title: "Answer…", command: "pillion.answerPrompt", id: request.promptId }, answered.catch(() => undefined));
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

  /** Lets the user choose. Leaving the list leaves the question waiting. */
  async pick(promptId: string): Promise<void> {
    const prompt = this.waiting.get(promptId);
    if (!prompt) {
      void say.information("That question was already answered or withdrawn.");
      return;
    }
    const items = [
      ...(prompt.actions ?? []).map((action) => ({ label: visible(action), action })),
      { label: "$(close) Cancel", description: "no answer; the agent goes on", action: "cancel" },
    ];
    const title = "An agent asks";
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
