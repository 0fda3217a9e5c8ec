// Says that something waits, and where. A notification answers nothing: its one link shows the dialog, and it goes with that, or by
// itself.

import { Uri, window } from "vscode";
import type { Approval, ApprovalListener } from "./approvals";
import { short, visible } from "./escape";
import type { Front } from "./front";
import { announce } from "./notices";
import { messageOf, particular } from "./request-page";

/** More notifications at a time only cover the editor; the view and the status bar count the rest. */
const atOnce = 1;

export class Announcer implements Partial<ApprovalListener> {
  private open = 0;
  private readonly onShow = new Map<string, (() => void)[]>();

  constructor(private readonly front: Pick<Front, "settled" | "shows">) {}

  added(approval: Approval): void {
    const message = `${visible(approval.request.agent.name)} wants to ${short(approval.request.preview.deed, 300)}`;
    const reasons = particular(approval.request.reasons).map(({ text }) => short(text, 160));
    void this.announce(approval, [message, ...messageOf(approval), ...reasons].join("; "));
  }

  changed(approval: Approval): void {
    if (approval.beneath === "moved" && approval.note !== undefined) {
      if (!this.typesThere(approval)) {
        void this.announce(approval, `${this.name(approval)} changed; the proposal was updated`);
      }
    }
    if (approval.beneath === "conflict") {
      void this.announce(approval, `${this.name(approval)} changed; your text will be merged with it and shown again`);
    }
  }

  removed({ id }: Approval): void {
    this.onShow.get(id)?.forEach((end) => end());
    this.onShow.delete(id);
  }

  /** Who types in the very file knows that it changes. */
  private typesThere(approval: Approval): boolean {
    const uri = window.activeTextEditor?.document.uri.toString();
    return approval.files.some((file) => Uri.parse(file.uri).toString() === uri);
  }

  private name(approval: Approval): string {
    return short(approval.files[0]?.path ?? "what this is based on", 80);
  }

  private async announce(approval: Approval, message: string): Promise<void> {
    if (this.open >= atOnce) {
      return;
    }
    this.open += 1;
    try {
      await this.front.settled();
      if (this.front.shows(approval.id) && window.state.focused) {
        return; // it is on the screen
      }
      const gone = new Promise<void>((resolve) => this.onShow.set(approval.id, [...(this.onShow.get(approval.id) ?? []), resolve]));
      await announce(message, { title: "Show", command: "pillion.show", id: approval.id }, gone);
    } finally {
      this.open -= 1;
    }
  }
}
