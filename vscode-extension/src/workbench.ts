// What a command has at hand. Only types: commands.ts gathers the commands, and each of their files stands on this one.

import type { LogOutputChannel, SecretStorage } from "vscode";
import type { Approvals } from "./approvals";
import type { Changes } from "./changes";
import type { Conversations } from "./conversation";
import type { Front } from "./front";
import type { Pages } from "./pages";
import type { Hands, ProcessTerminals } from "./process-terminals";
import type { Processes } from "./processes";
import type { Prompts } from "./prompts";
import type { RulesView } from "./rules-view";
import type { Session } from "./session";
import type { Sessions } from "./sessions";
import type { Todos } from "./todos";
import type { Trust } from "./trust";
import type { WaitingView } from "./view";

export interface Workbench {
  approvals: Approvals;
  prompts: Prompts;
  sessions: Sessions;
  todos: Todos;
  processes: Processes;
  terminals: ProcessTerminals;
  hands: Hands;
  trust: Trust;
  rules: RulesView;
  changes: Changes;
  conversations: Conversations;
  front: Front;
  waitingView: WaitingView;
  pages: Pages;
  session: Session;
  secrets: SecretStorage;
  log: LogOutputChannel;
}

export type Handler = (bench: Workbench, ...args: unknown[]) => unknown;
