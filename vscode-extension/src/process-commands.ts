// The view “Processes”: what agents left running, and what ended lately; and what a user does about them.

import { commands, type QuickPickItem, ThemeColor, ThemeIcon, TreeItem, window } from "vscode";
import { short, visible } from "./escape";
import { errorText, say } from "./notices";
import { ending } from "./process-screen";
import { type Hands, ProcessTerminals } from "./process-terminals";
import { AgentProcess, Processes } from "./processes";
import { methods, type ProcessKill, type ProcessList, type ProcessWrite } from "./protocol";
import type { Session } from "./session";
import { Tree } from "./tree";
import type { Handler, Workbench } from "./workbench";

export const processCommands: Record<string, Handler> = {
  "pillion.processes": pick,
  "pillion.showProcess": ({ terminals }, process) => {
    if (process instanceof AgentProcess) {
      terminals.show(process);
    }
  },
  "pillion.killProcess": killOne,
  "pillion.killProcessInView": killOne,
};

interface ProcessParts {
  processes: Processes;
  terminals: ProcessTerminals;
  view: ProcessView;
  hands: Hands;
}

export function processParts(session: () => Session): ProcessParts {
  const processes = new Processes(oneAtATime(async () => {
    processes.know((await session().request<ProcessList>(methods.processList, {})).processes ?? []);
  }));
  const hands: Hands = {
    async write({ info: { sessionId, processId } }, input) {
      await session().request(methods.processWrite, { sessionId, processId, input } satisfies ProcessWrite);
    },
    async kill({ info: { sessionId, processId } }, signal) {
      await session().request(methods.processKill, { sessionId, processId, ...(signal === undefined ? {} : { signal }) } satisfies ProcessKill);
    },
  };
  const [terminals, view] = [new ProcessTerminals(hands), new ProcessView(processes)];
  const refresh = (): void => view.refresh();
  [terminals, { started: refresh, ended: refresh, forgotten: refresh }].forEach((listener) => processes.listen(listener));
  return { processes, terminals, view, hands };
}

/** An older list that came after a newer one would take what began between them for ended. */
function oneAtATime(ask: () => Promise<void>): () => void {
  let [running, again] = [false, false];
  const run = (): void => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    ask()
      .catch(() => undefined) // the sidecar stopped meanwhile, which ends them all
      .finally(() => {
        running = false;
        if (again) {
          again = false;
          run();
        }
      });
  };
  return run;
}

interface Item extends QuickPickItem {
  process: AgentProcess;
}

/** A list whose entries have a button that stops them; choosing one opens its terminal. */
function pick({ processes, terminals, hands }: Workbench): void {
  if (processes.all.length === 0) {
    void say.information("There are no processes of agents.");
    return;
  }
  const choice = window.createQuickPick<Item>();
  const stop = { iconPath: new ThemeIcon("debug-stop"), tooltip: "Stop" };
  choice.title = "Processes of agents";
  choice.placeholder = "Choose one to watch it";
  choice.items = processes.all.map((process) => ({ ...item(process), buttons: process.info.running ? [stop] : [] }));
  choice.onDidTriggerItemButton(({ item: { process } }) => {
    choice.hide();
    void tellFailure(hands.kill(process));
  });
  choice.onDidAccept(() => {
    const [chosen] = choice.selectedItems;
    choice.hide();
    if (chosen) {
      terminals.show(chosen.process);
    }
  });
  choice.onDidHide(() => choice.dispose());
  choice.show();
}

async function killOne({ processes, hands }: Workbench, pressed: unknown): Promise<void> {
  const process = pressed instanceof AgentProcess ? pressed : await choose(processes.running);
  if (process) {
    await tellFailure(hands.kill(process));
  }
}

async function choose(running: readonly AgentProcess[]): Promise<AgentProcess | undefined> {
  if (running.length === 0) {
    void say.information("No process of an agent is running.");
    return undefined;
  }
  return (await window.showQuickPick(running.map(item), { title: "Stop which process?", placeHolder: "Also stops everything that it started" }))?.process;
}

async function tellFailure(done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    void say.warning(`Pillion: ${errorText(error)}`);
  }
}

function item(process: AgentProcess): Item {
  return { label: short(process.info.processId, 60), description: describe(process), process };
}

/** A click opens the terminal of a process. */
class ProcessView extends Tree<AgentProcess> {
  constructor(private readonly processes: Processes) {
    super("pillion.processes");
  }

  protected below(process?: AgentProcess): readonly AgentProcess[] {
    return process ? [] : this.processes.all;
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

  override refresh(): void {
    void commands.executeCommand("setContext", "pillion.hasProcesses", this.processes.all.length > 0);
    super.refresh();
  }
}

/** `running · npm run dev · claude` */
function describe({ info }: AgentProcess): string {
  return [info.running ? "running" : ending(info.exitCode), short(info.command, 60), short(info.agent.name, 30)].join(" · ");
}

function icon({ info }: AgentProcess): ThemeIcon {
  if (info.running) {
    return new ThemeIcon("server-process", new ThemeColor("terminal.ansiGreen"));
  }
  return info.exitCode === 0 ? new ThemeIcon("pass") : new ThemeIcon("circle-slash");
}
