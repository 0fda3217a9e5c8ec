// What a user answers, and what becomes of it. Only types.

/** `changed`: it is not what the answer was given for any more. `nothing`: a yes to none of it. `no-message`: the user left none. */
export type Verdict = "taken" | "too-soon" | "changed" | "nothing" | "no-message" | "gone";

/** What a button asks for; the answer on the wire follows from it and from what the user edited. */
export type Choice =
  /** `saved` when the half second began anew only because this very answer had files saved first. */
  | { kind: "approve"; saved?: true }
  | { kind: "remember"; decisionId: string }
  /** Run this command in place of the agent's. */
  | { kind: "amend"; command: string }
  | { kind: "reject"; feedback?: string }
  | { kind: "cancel" };
