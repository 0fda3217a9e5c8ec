// What a command, and what the sidecar says, has at hand. Only types: commands.ts gathers the commands, and each of their files stands on
// this one.

import type { LogOutputChannel, SecretStorage } from "vscode";
import type { Activity } from "./activity";
import type { Approvals } from "./approvals";
import type { Changes } from "./changes";
import type { Conversations } from "./conversation";
import type { Documents } from "./documents";
import type { Drafts } from "./drafts";
import type { Front } from "./front";
import type { LineComments } from "./line-comments";
import type { Pages } from "./pages";
import type { Hands, ProcessTerminals } from "./process-terminals";
import type { Processes } from "./processes";
import type { Prompts } from "./prompts";
import type { RulesView } from "./rules-view";
import type { Session } from "./session";
import type { Sessions } from "./sessions";
import type { StatusBar } from "./status-bar";
import type { Todos } from "./todos";
import type { Trust } from "./trust";
import type { WaitingView } from "./view";

export interface Workbench {
  approvals: Approvals;
  prompts: Prompts;
  activity: Activity;
  documents: Documents;
  sessions: Sessions;
  drafts: Drafts;
  todos: Todos;
  processes: Processes;
  terminals: ProcessTerminals;
  hands: Hands;
  trust: Trust;
  rules: RulesView;
  changes: Changes;
  lineComments: LineComments;
  conversations: Conversations;
  front: Front;
  waitingView: WaitingView;
  statusBar: StatusBar;
  pages: Pages;
  session: Session;
  secrets: SecretStorage;
  log: LogOutputChannel;
  refresh: () => void;
}

export type Handler = (bench: Workbench, ...args: unknown[]) => unknown;
