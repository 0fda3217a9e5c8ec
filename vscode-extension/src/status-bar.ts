// Two items in the status bar: is the sidecar there, and does anything wait for the user? And what may an agent that is
// here do without asking?

import { Disposable, MarkdownString, StatusBarAlignment, ThemeColor, window } from "vscode";
import { visible } from "./escape";
import { modeLook } from "./mode-words";
import type { SessionInfo, WorkspaceTracking } from "./protocol";
import type { State } from "./session";
import type { WorkspaceIndex } from "./session-protocol";
import { indexNote, indexText } from "./index-words";

export class StatusBar implements Disposable {
  private readonly item = window.createStatusBarItem("pillion.status", StatusBarAlignment.Left, 10);
  private readonly mode = window.createStatusBarItem("pillion.mode", StatusBarAlignment.Left, 9);

  /** How well changes by others are noticed; quiet, because nothing is to be done about it. */
  tracking: WorkspaceTracking | undefined;
  index: WorkspaceIndex | undefined;

  constructor() {
    this.item.name = "Pillion";
    this.item.show();
    this.mode.name = "Pillion: Mode";
    this.mode.command = "pillion.changeMode";
  }

  dispose(): void {
    this.item.dispose();
    this.mode.dispose();
  }

  private showModes(sessions: readonly SessionInfo[]): void {
    const look = modeLook(sessions);
    if (!look) {
      this.mode.hide();
      return;
    }
    this.mode.text = look.text;
    this.mode.tooltip = look.tooltip;
    this.mode.backgroundColor = look.warns ? new ThemeColor("statusBarItem.warningBackground") : undefined;
    this.mode.accessibilityInformation = { label: look.tooltip };
    this.mode.show();
  }

  update(state: State, waiting: number, running: number, sessions: readonly SessionInfo[]): void {
    this.showModes(sessions);
    const look = lookOf(state, waiting, running);
    const isReady = state.kind === "ready";
    const late = isReady && this.tracking?.degraded ? `Changes made outside are noticed late: ${visible(this.tracking.reason)}` : "";
    const notes = [late, isReady ? indexNote(this.index) : ""].filter(Boolean);
    this.item.text = look.text + (isReady ? indexText(this.index) : "");
    this.item.tooltip = new MarkdownString(look.tooltip).appendText(notes.map((note) => `\n\n${note}`).join(""));
    this.item.backgroundColor = look.background && new ThemeColor(`statusBarItem.${look.background}Background`);
    this.item.command = state.kind === "failed" ? "pillion.explainFailure" : "pillion.showWaiting";
    this.item.accessibilityInformation = { label: [look.tooltip, ...notes].join("; ") };
  }
}

interface Look {
  text: string;
  tooltip: string;
  background?: "warning" | "error";
}

function lookOf(state: State, waiting: number, running: number): Look {
  switch (state.kind) {
    case "failed":
      return { text: "$(error) Pillion", tooltip: `Pillion: ${state.problem}`, background: "error" };
    case "starting":
      return { text: "$(loading~spin) Pillion", tooltip: "Pillion is starting" };
    case "stopped":
      return { text: "$(circle-slash) Pillion", tooltip: "Pillion is stopped" };
    default:
      if (waiting > 0) {
        return { text: `$(bell-dot) Pillion: ${String(waiting)} waiting`, tooltip: `Pillion: ${requests(waiting)} waiting for your answer`, background: "warning" };
      }
      return running > 0
        ? { text: "$(sync~spin) Pillion", tooltip: "Pillion: an agent is at work" }
        : { text: "$(check) Pillion", tooltip: `Pillion ${state.version} is ready; no requests are waiting` };
  }
}

function requests(count: number): string {
  return count === 1 ? "1 request is" : `${String(count)} requests are`;
}
