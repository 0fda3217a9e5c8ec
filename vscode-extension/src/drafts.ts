// What agents in mode draft have in their drafts, as the sidecar has it: all of them are asked for once; from then on it reports each that
// changes. They are reviewed and discarded here.

import { type Approval, type Approvals } from "./approvals";
import { pathsOf } from "./hunks";
import { methods } from "./protocol";
import type { DraftInfo, DraftList, DraftSelector } from "./session-protocol";
import type { Session } from "./session";

export class Drafts {
  private readonly known = new Map<string, DraftInfo>();

  constructor(
    private readonly session: () => Session,
    private readonly approvals: Approvals,
    private readonly changed: () => void,
  ) {}

  get all(): readonly DraftInfo[] {
    return [...this.known.values()];
  }

  of(sessionId: string): DraftInfo | undefined {
    return this.known.get(sessionId);
  }

  /** Its review, while that waits. */
  review(sessionId: string): Approval | undefined {
    return this.approvals.all.find(({ isDraft, request }) => isDraft && request.sessionId === sessionId);
  }

  /** How many files are in it. */
  size(sessionId: string): number {
    return this.of(sessionId)?.files.length ?? pathsOf(this.review(sessionId)?.files ?? []).length;
  }

  hear(draft: DraftInfo): void {
    if (draft.ended === true) {
      this.known.delete(draft.sessionId);
    } else {
      this.known.set(draft.sessionId, draft);
    }
    this.changed();
  }

  async look(): Promise<void> {
    const { drafts } = await this.session().request<DraftList>(methods.draftList, {});
    this.known.clear();
    drafts.forEach((draft) => this.hear(draft));
  }

  lookSoon(): void {
    if (this.session().state.kind === "ready") {
      this.look().catch(() => undefined); // it stopped meanwhile, and says all of it again when it is back
    }
  }

  /** The sidecar asks for it as for any other request; this ends with it. */
  async ask(sessionId: string): Promise<void> {
    await this.session().request(methods.draftReview, { sessionId } satisfies DraftSelector);
  }

  async discard(sessionId: string): Promise<void> {
    const review = this.review(sessionId);
    await (review ? this.approvals.answer(review.id, { kind: "discard" }) : this.session().request(methods.draftDiscard, { sessionId } satisfies DraftSelector));
  }

  end(): void {
    this.known.clear();
  }
}
