// The part of the wire that is about patches: see protocol.ts.

import type { AgentIdentity } from "./protocol";

/** A patch of which the human takes what they want. It changes no file. */
export interface PatchReview {
  reviewId: string;
  sessionId: string;
  agent: AgentIdentity;
  /** Plain text, by the agent; may be empty. */
  message: string;
  files: ReviewFile[] | null;
}

export interface ReviewFile {
  /** Unique in the review: the name after the patch, of a deleted file the one it had. */
  path: string;
  /** Of a file that is moved or copied. */
  from?: string;
  uri: string;
  operation: "create" | "overwrite" | "delete" | "move" | "copy";
  language: string;
  /** What happens beside name and lines, in words. */
  note?: string;
  /** What there is to say of it where there are no lines, beside operation and names; with the note. */
  whole?: string;
  hunks: ReviewHunk[] | null;
  before: string;
  after: string;
  additions: number;
  deletions: number;
  openInEditor: boolean;
  dirty: boolean;
}

export interface ReviewHunk {
  /** Unique in the review. */
  id: string;
  /** `@@ -a,b +c,d @@`, lines of `before` and `after`; words where the file is taken or left as a whole. */
  header: string;
  /** With their leading blank, `+` or `-`. */
  lines: string[] | null;
}

export interface ReviewAnswer {
  action: "apply" | "cancel";
  /** Ids of hunks. */
  selected: string[];
  /** The whole right side of files in which the human wrote, by `path`. */
  edited?: Record<string, string>;
  feedback?: string;
}
