// Items in the status bar: is the sidecar there, and does anything wait for the user? What is an agent at, by its to-do list?
// And what may it do without asking?

import { ColorThemeKind, Disposable, StatusBarAlignment, type StatusBarItem, ThemeColor, window } from "vscode";
import { short, visible, withoutIcons } from "./escape";
import type { WorkspaceTracking } from "./protocol";
import type { State } from "./session";
import type { SessionInfo, WorkspaceIndex } from "./session-protocol";
import { indexNote, indexText, type Look, modeLook } from "./session-words";
import { progressLook } from "./todos";

export class StatusBar implements Disposable {
  private readonly item = window.createStatusBarItem("pillion.status", StatusBarAlignment.Left, 10);
  private readonly todo = window.createStatusBarItem("pillion.todo", StatusBarAlignment.Left, 9.5);
  private readonly mode = window.createStatusBarItem("pillion.mode", StatusBarAlignment.Left, 9);

  /** How well changes by others are noticed; quiet, because nothing is to be done about it. */
  tracking: WorkspaceTracking | undefined;
  index: WorkspaceIndex | undefined;

  constructor() {
    this.item.name = "Pillion";
    this.item.show();
    this.todo.name = "Pillion: To-Dos";
    this.todo.command = "pillion.todos";
    this.mode.name = "Pillion: Mode";
    this.mode.command = "pillion.changeMode";
  }

  dispose(): void {
    this.item.dispose();
    this.todo.dispose();
    this.mode.dispose();
  }

  update(state: State, waiting: number, running: number, sessions: readonly SessionInfo[]): void {
    show(this.todo, progressLook(sessions));
    show(this.mode, modeLook(sessions));
    const look = lookOf(state, waiting, running, sessions.filter(({ paused }) => paused));
    const isReady = state.kind === "ready";
    const late = isReady && this.tracking?.degraded ? `Changes made outside are noticed late: ${visible(this.tracking.reason)}` : "";
    const notes = [late, isReady ? indexNote(this.index) : ""].filter(Boolean);
    this.item.text = look.text + (isReady ? indexText(this.index) : "");
    this.item.tooltip = [look.tooltip, ...notes].join("\n\n");
    emphasise(this.item, look.background);
    this.item.command = state.kind === "failed" ? "pillion.explainFailure" : "pillion.showWaiting";
    this.item.accessibilityInformation = { label: [look.tooltip, ...notes].join("; ") };
  }
}

function show(item: StatusBarItem, look: Look | undefined): void {
  if (!look) {
    item.hide();
    return;
  }
  item.text = look.text;
  item.tooltip = look.tooltip;
  item.accessibilityInformation = { label: look.tooltip };
  emphasise(item, look.background);
  item.show();
}

/** Dark high contrast has no background for warnings in the status bar, so there the text has the colour. */
function emphasise(item: StatusBarItem, how: Look["background"]): void {
  const asText = how === "warning" && window.activeColorTheme.kind === ColorThemeKind.HighContrast;
  item.backgroundColor = how && !asText ? new ThemeColor(`statusBarItem.${how}Background`) : undefined;
  item.color = asText ? new ThemeColor("editorWarning.foreground") : undefined;
}

function lookOf(state: State, waiting: number, running: number, paused: readonly SessionInfo[]): Look {
  switch (state.kind) {
    case "failed":
      return { text: "$(error) Pillion", tooltip: `Pillion: ${state.problem}`, background: "error" };
    case "starting":
      return { text: "$(loading~spin) Pillion", tooltip: "Pillion is starting" };
    case "stopped":
      return { text: "$(circle-slash) Pillion", tooltip: "Pillion is stopped" };
    default:
      if (waiting > 0) {
        const [also, who] = paused.length > 0 ? [`, ${pausedText(paused)}`, `; ${pausedNames(paused)}`] : ["", ""];
        return { text: `$(bell-dot) Pillion: ${String(waiting)} waiting${also}`, tooltip: `Pillion: ${requests(waiting)} waiting for your answer${who}`, background: "warning" };
      }
      if (paused.length > 0) {
        return { text: `$(debug-pause) Pillion: ${pausedText(paused)}`, tooltip: `Pillion: ${pausedNames(paused)}` };
      }
      return running > 0
        ? { text: "$(sync~spin) Pillion", tooltip: "Pillion: an agent is at work" }
        : { text: "$(check) Pillion", tooltip: `Pillion ${state.version} is ready; no requests are waiting` };
  }
}

function pausedText([first, ...more]: readonly SessionInfo[]): string {
  return more.length > 0 ? `${String(more.length + 1)} paused` : `${withoutIcons(short(first?.agent.name ?? "", 20))} paused`;
}

function pausedNames(paused: readonly SessionInfo[]): string {
  return `${paused.map(({ agent }) => visible(agent.name)).join(", ")} paused until you resume`;
}

function requests(count: number): string {
  return count === 1 ? "1 request is" : `${String(count)} requests are`;
}
