// The view “Processes”: what agents left running, and what ended lately. A click opens its terminal.

import { commands, Disposable, EventEmitter, ThemeColor, ThemeIcon, TreeItem, type TreeDataProvider, window } from "vscode";
import { short, visible } from "./escape";
import { ending } from "./process-screen";
import type { AgentProcess, ProcessListener, Processes } from "./processes";

export class ProcessView implements TreeDataProvider<AgentProcess>, Partial<ProcessListener>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly registration = window.registerTreeDataProvider("pillion.processes", this); // it listens at once

  constructor(private readonly processes: Processes) {}

  dispose(): void {
    this.registration.dispose();
    this.changes.dispose();
  }

  started(): void {
    this.refresh();
  }

  ended(): void {
    this.refresh();
  }

  forgotten(): void {
    this.refresh();
  }

  getChildren(entry?: AgentProcess): AgentProcess[] {
    return entry ? [] : [...this.processes.all];
  }

  getTreeItem(process: AgentProcess): TreeItem {
    const { info } = process;
    const item = new TreeItem(short(info.processId, 60));
    item.id = `${process.key} ${String(info.pid)}`;
    item.contextValue = info.running ? "process.running" : "process.ended";
    item.description = describe(process);
    item.iconPath = icon(process);
    item.tooltip = [visible(info.command), `${visible(info.agent.name)}, process ${String(info.pid)}`, describe(process)].join("\n");
    item.accessibilityInformation = { label: `${short(info.processId, 60)}, ${describe(process)}` };
    item.command = { title: "Open Terminal", command: "pillion.showProcess", arguments: [process] };
    return item;
  }

  private refresh(): void {
    void commands.executeCommand("setContext", "pillion.hasProcesses", this.processes.all.length > 0);
    this.changes.fire(undefined);
  }
}

/** `running · npm run dev · claude` */
export function describe({ info }: AgentProcess): string {
  return [info.running ? "running" : ending(info.exitCode), short(info.command, 60), short(info.agent.name, 30)].join(" · ");
}

function icon({ info }: AgentProcess): ThemeIcon {
  if (info.running) {
    return new ThemeIcon("server-process", new ThemeColor("terminal.ansiGreen"));
  }
  return info.exitCode === 0 ? new ThemeIcon("pass") : new ThemeIcon("circle-slash");
}
