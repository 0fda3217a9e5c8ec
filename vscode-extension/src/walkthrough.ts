// How far the user has come in the walkthrough of package.json: its steps tick themselves by these contexts.

import { commands, Disposable, window } from "vscode";
import type { Approvals } from "./approvals";
import type { Session } from "./session";

/** What its command opens: the extension's id and the walkthrough's. */
const walkthrough = "pillion.pillion#first-edit";

const steps = { runs: "pillion.walkthrough.runs", asked: "pillion.walkthrough.asked", approved: "pillion.walkthrough.approved" } as const;

const reached = new Set<keyof typeof steps>();
/** From when the page's tab is there until its walkthrough is. */
const registeringMs = 1000;

export function followSteps(approvals: Approvals, session: Session): Disposable {
  let timer: NodeJS.Timeout | undefined;
  approvals.listen({
    added: () => reach("asked"),
    removed: (_approval, outcome) => {
      if (["approve", "remember", "amend"].includes(outcome)) {
        reach("approved");
      }
    },
  });
  return Disposable.from(
    session.onDidChangeState(({ kind }) => {
      if (kind === "ready") {
        reach("runs");
      }
    }),
    window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      if ([...opened, ...changed].some((tab) => tab.input === undefined)) { // a page of VS Code's own; which one is not said
        clearTimeout(timer);
        timer = setTimeout(() => void tell([...reached]), registeringMs);
      }
    }),
    new Disposable(() => clearTimeout(timer)),
  );
}

export async function getStarted(): Promise<void> {
  await commands.executeCommand("workbench.action.openWalkthrough", walkthrough, false);
  await tell([...reached]);
}

function reach(step: keyof typeof steps): void {
  reached.add(step);
  void tell([step]);
}

/**
 * A walkthrough ticks a step when its context becomes true, and never if that is true when the walkthrough is opened
 * (VS Code 1.139). So a context is true for a moment only, and once more for each page that is opened.
 */
async function tell(which: readonly (keyof typeof steps)[]): Promise<void> {
  for (const step of which) {
    await commands.executeCommand("setContext", steps[step], true);
    await commands.executeCommand("setContext", steps[step], false);
  }
}
