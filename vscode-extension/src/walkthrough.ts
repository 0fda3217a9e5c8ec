// How far the human has come in the walkthrough of package.json: its steps tick themselves by these contexts.

import { commands, Disposable } from "vscode";
import type { Approvals } from "./approvals";
import type { Session } from "./session";

/** What its command opens: the extension's id and the walkthrough's. */
export const walkthrough = "pillion.pillion#first-edit";

export const steps = { runs: "pillion.walkthrough.runs", asked: "pillion.walkthrough.asked", approved: "pillion.walkthrough.approved" } as const;

export function followSteps(approvals: Approvals, session: Session): Disposable {
  const reached = (step: keyof typeof steps): void => void commands.executeCommand("setContext", steps[step], true);
  approvals.listen({
    added: () => {
      reached("asked");
    },
    removed: (_approval, outcome) => {
      if (["approve", "remember", "amend"].includes(outcome)) {
        reached("approved");
      }
    },
  });
  return session.onDidChangeState(({ kind }) => {
    if (kind === "ready") {
      reached("runs");
    }
  });
}
