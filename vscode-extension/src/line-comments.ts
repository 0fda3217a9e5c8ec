// Comments on lines of what an agent proposes, by VS Code's own way to write them. They belong to the approval, and go to the agent with a
// rejection, of a draft with any answer; this draws them beneath their lines. A comment is kept by its line of the proposal, whatever the user takes or writes above it.

import { type Comment, type CommentController, CommentMode, type CommentReply, comments, CommentThreadCollapsibleState, type CommentThread, Disposable, Range, type TextDocument } from "vscode";
import type { Approval, ApprovalListener, Approvals } from "./approvals";
import { visibleLines } from "./escape";
import type { LineComment } from "./protocol";
import { address, approvalIdOf, pathOf, proposal } from "./schemes";

export class LineComments implements Partial<ApprovalListener>, Disposable {
  private made: CommentController | undefined;
  /** By approval, then by file and line. */
  private readonly threads = new Map<string, Map<string, CommentThread>>();

  constructor(private readonly approvals: Approvals) {}

  dispose(): void {
    this.made?.dispose();
  }

  added(approval: Approval): void {
    this.threads.set(approval.id, new Map());
    if (approval.isCommentable) {
      this.controller(); // asked for the lines of the editor that opens now
    }
  }

  changed(approval: Approval): void {
    this.draw(approval, approval.comments);
  }

  removed(approval: Approval): void {
    this.draw(approval, []);
    this.threads.delete(approval.id);
  }

  /** What was typed beneath a line, in a thread that VS Code has just made or in one that is here. */
  add({ thread, text }: CommentReply): void {
    const approval = this.approvals.get(approvalIdOf(thread.uri) ?? "");
    const known = this.threads.get(approval?.id ?? "");
    if (!approval || !known || text.trim() === "") {
      return;
    }
    const path = pathOf(thread.uri);
    const line = approval.chosen.carry(path, thread.range?.end.line ?? 0, "to the proposal") + 1;
    const place = placeOf({ path, line });
    if ((known.get(place) ?? thread) === thread) {
      known.set(place, thread);
    } else {
      thread.dispose(); // a second one on the same line
    }
    this.approvals.comment(approval.id, { path, line, text: text.trim() });
  }

  remove({ approvalId, comment }: Drawn): void {
    this.approvals.uncomment(approvalId, comment);
  }

  /** Made with the first change: VS Code shows its own view of comments from then on. */
  private controller(): CommentController {
    if (!this.made) {
      this.made = comments.createCommentController("pillion", "Pillion");
      this.made.options = { prompt: "Add a comment", placeHolder: "The agent reads it when you reject the change" };
      this.made.commentingRangeProvider = { provideCommentingRanges: (document) => this.ranges(document) };
    }
    return this.made;
  }

  private ranges({ uri, lineCount }: TextDocument): Range[] {
    const approval = uri.scheme === proposal ? this.approvals.get(approvalIdOf(uri) ?? "") : undefined;
    return approval?.isCommentable && approval.texts.some(({ path }) => path === pathOf(uri)) ? [new Range(0, 0, lineCount - 1, 0)] : [];
  }

  private draw(approval: Approval, written: readonly LineComment[]): void {
    const known = this.threads.get(approval.id) ?? new Map<string, CommentThread>();
    const places = new Map(written.map((comment) => [placeOf(comment), comment]));
    [...known].filter(([place]) => !places.has(place)).forEach(([place, thread]) => {
      thread.dispose();
      known.delete(place);
    });
    for (const [place, { path, line }] of places) {
      const at = approval.chosen.carry(path, line - 1, "from it");
      const range = new Range(at, 0, at, 0);
      const thread = known.get(place) ?? this.controller().createCommentThread(address(proposal, approval.id, path), range, []);
      known.set(place, thread);
      thread.range = range;
      const here = written.filter((comment) => placeOf(comment) === place).map((comment) => new Drawn(approval.id, comment));
      if (here.length !== thread.comments.length || here.some(({ body }, index) => body !== thread.comments[index]?.body)) {
        thread.comments = here;
        thread.label = approval.isDraft ? "Goes to the agent with your answer" : "Goes to the agent with a rejection";
        thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
      }
    }
  }
}

export class Drawn implements Comment {
  readonly author = { name: "You" };
  readonly mode = CommentMode.Preview;
  /** Plain text: of a string VS Code makes neither links nor commands. */
  readonly body: string;

  constructor(
    readonly approvalId: string,
    readonly comment: LineComment,
  ) {
    this.body = visibleLines(comment.text).join("\n");
  }
}

function placeOf({ path, line }: Pick<LineComment, "path" | "line">): string {
  return `${String(line)}\n${path}`;
}
