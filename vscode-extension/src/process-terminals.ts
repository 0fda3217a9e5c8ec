// A terminal for each process that an agent left running. It appears in the list of terminals without coming to the front.
// Closing it stops the process, which is what VS Code's own button for it says; what was printed is kept, and the view opens
// it again. How text and typing look is process-screen.ts's business.

import { Disposable, EventEmitter, type Pseudoterminal, type Terminal, type TerminalDimensions, ThemeColor, ThemeIcon, window } from "vscode";
import { short } from "./escape";
import { errorText, say } from "./notices";
import { ProcessScreen } from "./process-screen";
import type { AgentProcess, Printed, ProcessListener } from "./processes";

/** What a user does to a process. */
export interface Hands {
  write(process: AgentProcess, input: string): Promise<void>;
  kill(process: AgentProcess, signal?: string): Promise<void>;
}

/** A terminal is drawn at most this often. */
const drawMs = 50;
/** Terminals of processes that have ended; the view has more of them. */
const endedTerminals = 5;

export class ProcessTerminals implements ProcessListener, Disposable {
  private readonly open = new Map<string, { terminal: Terminal; screen: ProcessTerminal }>();
  private over: AgentProcess[] = [];

  constructor(private readonly hands: Hands) {}

  dispose(): void {
    for (const { screen, terminal } of this.open.values()) {
      screen.letGo();
      terminal.dispose();
    }
    this.open.clear();
  }

  started(process: AgentProcess): void {
    this.make(process);
  }

  printed(process: AgentProcess, piece: Printed): void {
    this.open.get(process.key)?.screen.print(piece);
  }

  ended(process: AgentProcess): void {
    this.open.get(process.key)?.screen.end();
    this.over = [...this.over.filter(({ key }) => this.open.has(key)), process];
    const surplus = this.over.filter(({ key }) => this.open.has(key) && this.open.get(key)?.terminal !== window.activeTerminal).slice(0, -endedTerminals);
    surplus.forEach((old) => this.forgotten(old));
  }

  forgotten(process: AgentProcess): void {
    const known = this.open.get(process.key);
    this.open.delete(process.key);
    this.over = this.over.filter((other) => other !== process);
    known?.screen.letGo();
    known?.terminal.dispose();
  }

  /** The user asked for it, so it takes the focus. */
  show(process: AgentProcess): void {
    (this.open.get(process.key)?.terminal ?? this.make(process)).show(false);
  }

  private make(process: AgentProcess): Terminal {
    const screen = new ProcessTerminal(process, this.hands, () => this.open.delete(process.key));
    const { running } = process.info;
    const iconPath = new ThemeIcon(running ? "server-process" : "circle-slash");
    const terminal = window.createTerminal({ name: screen.name, pty: screen, iconPath, color: new ThemeColor("terminal.ansiCyan"), isTransient: true });
    this.open.set(process.key, { terminal, screen });
    return terminal;
  }
}

class ProcessTerminal implements Pseudoterminal {
  private readonly writes = new EventEmitter<string>();
  private readonly names = new EventEmitter<string>();
  private readonly screen: ProcessScreen;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = false;
  private isHeld = true;
  readonly onDidWrite = this.writes.event;
  readonly onDidChangeName = this.names.event;

  constructor(
    private readonly process: AgentProcess,
    private readonly hands: Hands,
    private readonly closed: () => void,
  ) {
    this.screen = new ProcessScreen(process.info);
    this.screen.replay(process.printed);
    if (!process.info.running) {
      this.screen.end(process.info.exitCode);
    }
  }

  get name(): string {
    const { processId, agent, running, exitCode } = this.process.info;
    const state = running ? "" : exitCode === undefined ? " (ended)" : ` (exit ${String(exitCode)})`;
    return `${short(processId, 30)}: ${short(agent.name, 30)}${state}`;
  }

  open(dimensions: TerminalDimensions | undefined): void {
    this.isOpen = true;
    this.setDimensions(dimensions);
    this.writes.fire(this.screen.head());
    this.draw();
  }

  /** The user closed it. */
  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
    if (this.isHeld) {
      this.closed();
      if (this.process.info.running) {
        this.hands.kill(this.process).catch((error: unknown) => void say.warning(`${this.name} could not be stopped: ${String(error)}`));
      }
    }
  }

  /** What happens to the terminal from now on is not the user's wish. */
  letGo(): void {
    this.isHeld = false;
  }

  setDimensions(dimensions: TerminalDimensions | undefined): void {
    this.screen.columns = dimensions?.columns ?? this.screen.columns;
  }

  handleInput(data: string): void {
    const { shown, events } = this.screen.type(data);
    this.writes.fire(shown);
    for (const event of events) {
      const done = event.kind === "line" ? this.hands.write(this.process, `${event.text}\n`) : this.hands.kill(this.process, "INT");
      done.catch((error: unknown) => {
        this.screen.note(`could not send it: ${errorText(error)}`);
        this.drawSoon();
      });
    }
  }

  print(piece: Printed): void {
    this.screen.print(piece);
    this.drawSoon();
  }

  end(): void {
    this.screen.end(this.process.info.exitCode);
    this.drawSoon();
    this.names.fire(this.name);
  }

  private drawSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, drawMs);
  }

  private draw(): void {
    const text = this.isOpen ? this.screen.draw() : "";
    if (text !== "") {
      this.writes.fire(text);
    }
  }
}
