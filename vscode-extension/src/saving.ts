// Saves the files whose text a command would not see, and then perhaps runs it. The sidecar notices what was saved and
// brings the dialog up to date, and says so if nothing else of it became different.

import { workspace } from "vscode";
import type { Approval, Approvals } from "./approvals";
import { say } from "./notices";

/** How long the sidecar may take to notice what was saved. */
const noticeMs = 3000;

/** Whether all of them are saved now. */
export async function saveUnseen(approval: Approval | undefined): Promise<boolean> {
  const unsaved = new Set(approval?.unsaved);
  const documents = workspace.textDocuments.filter((document) => document.isDirty && unsaved.has(workspace.asRelativePath(document.uri)));
  const saved = await Promise.all(documents.map((document) => document.save()));
  return saved.every(Boolean);
}

/** Whether it came too soon. It runs if the sidecar finds nothing different but what was saved; else it waits on. */
export async function saveAndRun(approvals: Approvals, id: string): Promise<boolean> {
  const approval = approvals.get(id);
  if (!approval?.isArmed) {
    return approval !== undefined;
  }
  const same = noticed(approvals, id);
  if (!(await saveUnseen(approval))) {
    void say.warning("Not everything could be saved, so the command was not run. It waits for your answer.");
  } else if (await same) {
    approvals.answer(id, { kind: "approve", saved: true });
  } else {
    void say.information("Saving also changed other parts of the request. Review it before you run it.");
  }
  return false;
}

/**
 * Resolves when the dialog misses nothing any more, is gone, or nothing has come for too long: then the sidecar judges the
 * answer by its digest. False when something else became different.
 */
function noticed(approvals: Approvals, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    let same = true;
    const done = (): void => {
      clearTimeout(late);
      stop();
      resolve(same);
    };
    const late = setTimeout(done, noticeMs);
    const stop = approvals.listen({
      changed: (approval) => {
        same &&= approval.id !== id || approval.beneath === "moved";
        if (approval.id === id && approval.unsaved.length === 0) {
          done();
        }
      },
      removed: (approval) => {
        if (approval.id === id) {
          done();
        }
      },
    });
  });
}
