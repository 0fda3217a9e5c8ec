// What the sidecar says to this editor, and who here answers it.

import { type CancellationToken, type LanguageClient, LSPErrorCodes, ResponseError } from "vscode-languageclient/node";
import type { ActivityChanged } from "./activity-protocol";
import type { Approvals } from "./approvals";
import type { ConversationAppended, ConversationChanged, GatewayState } from "./conversation-protocol";
import { attendToQuestions } from "./languages";
import {
  type AgentStatus,
  type ApprovalAnswer,
  type ApprovalChanged,
  type ApprovalRequest,
  type ApprovalResolved,
  type DocumentEdit,
  type JournalChanged,
  methods,
  type ProcessOutput,
  type PromptRequest,
  type SettingsUntrusted,
  type WorkspaceChanged,
  type WorkspaceTracking,
} from "./protocol";
import type { DraftInfo, RulesChanged, SessionChanged, SessionUnusual, WorkspaceIndex } from "./session-protocol";
import type { Workbench } from "./workbench";

export function attend(client: LanguageClient, to: Omit<Workbench, "session">): void {
  client.onRequest(methods.approvalRequest, (request: ApprovalRequest, token: CancellationToken) => approve(to.approvals, request, token));
  client.onNotification(methods.approvalChanged, (changed: ApprovalChanged) => to.approvals.change(changed));
  client.onNotification(methods.approvalResolved, ({ approvalId, outcome }: ApprovalResolved) => to.approvals.remove(approvalId, outcome));
  client.onRequest(methods.promptUser, (request: PromptRequest, token: CancellationToken) => to.prompts.open(request, token, () => withdrawn("withdrawn")));
  client.onRequest(methods.documentEdit, (request: DocumentEdit) => to.documents.edit(request));
  attendToQuestions(client);
  client.onNotification(methods.activityChanged, (entry: ActivityChanged) => {
    to.activity.record(entry);
    to.refresh();
  });
  client.onNotification(methods.processOutput, (output: ProcessOutput) => to.processes.hear(output));
  client.onNotification(methods.rulesChanged, (rules: RulesChanged) => to.rules.hear(rules));
  client.onNotification(methods.settingsUntrusted, (untrusted: SettingsUntrusted) => to.trust.hear(untrusted));
  client.onNotification(methods.journalChanged, (changed: JournalChanged) => to.changes.heard(changed));
  client.onNotification(methods.workspaceChanged, (changed: WorkspaceChanged) => to.changes.touched(changed));
  client.onNotification(methods.workspaceTracking, (tracking: WorkspaceTracking) => {
    to.log.info(`tracking: ${tracking.degraded ? `degraded, ${tracking.reason}` : "every folder is watched"} (${String(tracking.watched)})`);
    to.statusBar.tracking = tracking;
    to.refresh();
  });
  client.onNotification(methods.workspaceIndex, (index: WorkspaceIndex) => {
    to.statusBar.index = index;
    to.refresh();
  });
  client.onNotification(methods.sessionChanged, (changed: SessionChanged) => to.sessions.hear(changed));
  client.onNotification(methods.draftChanged, (draft: DraftInfo) => to.drafts.hear(draft));
  client.onNotification(methods.sessionUnusual, (unusual: SessionUnusual) => to.changes.unusual.hear(unusual));
  client.onNotification(methods.conversationChanged, (changed: ConversationChanged) => to.conversations.change(changed));
  client.onNotification(methods.conversationAppended, (appended: ConversationAppended) => to.conversations.append(appended));
  client.onNotification(methods.gatewayChanged, (state: GatewayState) => to.conversations.connected(state));
  client.onNotification(methods.agentStatus, (status: AgentStatus) => to.log.debug(`agent ${status.sessionId}: ${status.status} ${status.message}`));
}

const resolvedTime = 100; // ms

async function approve(approvals: Approvals, request: ApprovalRequest, token: CancellationToken): Promise<ApprovalAnswer> {
  const answer = approvals.open(request, withdrawn);
  // A cancellation overtakes the approval/resolved that was sent before it and says why; that one gets its chance first.
  const cancelled = token.onCancellationRequested(() => {
    setTimeout(() => approvals.remove(request.approvalId, "withdrawn"), resolvedTime);
  });
  try {
    return await answer;
  } finally {
    cancelled.dispose();
  }
}

/** Nobody's answer: not a rejection, which the user would have had to give. */
function withdrawn(outcome: string): Error {
  return new ResponseError(LSPErrorCodes.RequestCancelled, `the dialog was closed: ${outcome}`);
}
