// Processes of agents, and what it printed. Pure: it hears the sidecar's notifications and tells its listeners; the
// terminals and the view are drawn elsewhere. What a process printed is bounded, its end is kept.

import type { ProcessInfo, ProcessOutput } from "./protocol";

/** How much of a process's text is kept for a terminal that is opened later; characters. */
export const keptText = 256 * 1024;
/** How many that have ended can still be looked at. */
export const keptEnded = 20;

export interface Printed {
  /** Bytes before this text that the sidecar did not send. */
  gap: number;
  text: string;
}

export class AgentProcess {
  /** Bytes of all it ever printed that came, or were passed over, so far. */
  next = 0;
  /** Bytes and text, the oldest first. */
  readonly printed: Printed[] = [];
  private size = 0;

  constructor(
    readonly key: string,
    public info: ProcessInfo,
  ) {}

  /** Undefined when there is nothing new in it. */
  take({ text, start, next }: ProcessOutput): Printed | undefined {
    const gap = Math.max(0, start - this.next);
    const known = Math.max(0, this.next - start);
    if (next <= this.next) {
      return undefined;
    }
    this.next = next;
    const piece = { gap, text: known === 0 ? text : Buffer.from(text, "utf8").subarray(known).toString("utf8") };
    this.keep(piece);
    return piece;
  }

  private keep({ gap, text }: Printed): void {
    const last = this.printed.at(-1);
    if (last && gap === 0 && last.text.length < 8192) {
      last.text += text;
    } else {
      this.printed.push({ gap, text });
    }
    this.size += text.length;
    while (this.size > keptText) {
      const oldest = this.printed[0];
      if (!oldest) {
        return;
      }
      const excess = Math.min(this.size - keptText, oldest.text.length);
      const lost = Buffer.byteLength(oldest.text.slice(0, excess), "utf8") + oldest.gap;
      this.size -= excess;
      oldest.text = oldest.text.slice(excess);
      oldest.gap = lost;
      const following = this.printed[1];
      if (oldest.text === "" && following) {
        following.gap += lost;
        this.printed.shift();
      }
    }
  }
}

export interface ProcessListener {
  started(process: AgentProcess): void;
  printed(process: AgentProcess, piece: Printed): void;
  ended(process: AgentProcess): void;
  /** Nothing of it is kept any more. */
  forgotten(process: AgentProcess): void;
}

export class Processes {
  private readonly known = new Map<string, AgentProcess>();
  /** Printed something, and nobody said yet what they are. */
  private readonly strangers = new Map<string, ProcessOutput[]>();
  private readonly listeners: Partial<ProcessListener>[] = [];

  /** `ask` has the sidecar list its processes, which ends in a call of `know`. */
  constructor(private readonly ask: () => void) {}

  listen(listener: Partial<ProcessListener>): void {
    this.listeners.push(listener);
  }

  /** Those that run before those that ended; of each the newest first. */
  get all(): readonly AgentProcess[] {
    const newest = [...this.known.values()].reverse();
    return [...newest.filter(({ info }) => info.running), ...newest.filter(({ info }) => !info.running)];
  }

  get running(): readonly AgentProcess[] {
    return this.all.filter(({ info }) => info.running);
  }

  get(key: string): AgentProcess | undefined {
    return this.known.get(key);
  }

  hear(output: ProcessOutput): void {
    const key = keyOf(output);
    const process = this.known.get(key);
    if (process && (process.info.running || !output.running)) {
      this.apply(process, output);
    } else {
      // A name that is used again is another process.
      this.strangers.set(key, [...(this.strangers.get(key) ?? []), output]);
      this.ask();
    }
  }

  /**
   * All there are, as the sidecar has them. What is not among them has ended, and nobody said how; what ended before
   * anybody here heard of it is no news.
   */
  know(list: readonly ProcessInfo[]): void {
    for (const info of list) {
      const key = keyOf(info);
      const present = this.known.get(key);
      const outputs = this.strangers.get(key) ?? [];
      this.strangers.delete(key);
      if (present?.info.pid !== info.pid && (info.running || outputs.length > 0)) {
        this.meet(key, info, outputs);
      }
    }
    const listed = new Set(list.map(keyOf));
    this.running.filter(({ key }) => !listed.has(key)).forEach((process) => this.finish(process, undefined));
  }

  /** The sidecar is gone, and everything that ran with it. */
  end(): void {
    this.strangers.clear();
    this.know([]);
  }

  private meet(key: string, info: ProcessInfo, outputs: readonly ProcessOutput[]): void {
    const former = this.known.get(key);
    if (former) {
      this.forget(former);
    }
    // Its end is told by its last output, after what it printed.
    const process = new AgentProcess(key, outputs.some(({ running }) => !running) ? { ...info, running: true } : info);
    this.known.set(key, process);
    this.tell((listener) => listener.started?.(process));
    outputs.forEach((output) => this.apply(process, output));
  }

  private apply(process: AgentProcess, output: ProcessOutput): void {
    const piece = process.take(output);
    if (piece) {
      this.tell((listener) => listener.printed?.(process, piece));
    }
    if (!output.running && process.info.running) {
      this.finish(process, output.exitCode);
    }
  }

  private finish(process: AgentProcess, exitCode: number | undefined): void {
    process.info = { ...process.info, running: false, ...(exitCode === undefined ? {} : { exitCode }) };
    this.tell((listener) => listener.ended?.(process));
    this.all
      .filter(({ info }) => !info.running)
      .slice(keptEnded)
      .forEach((old) => this.forget(old));
  }

  private forget(process: AgentProcess): void {
    this.known.delete(process.key);
    this.tell((listener) => listener.forgotten?.(process));
  }

  private tell(event: (listener: Partial<ProcessListener>) => void): void {
    this.listeners.forEach(event);
  }
}

/** Names are unique within a session alone. */
function keyOf({ sessionId, processId }: { sessionId: string; processId: string }): string {
  return JSON.stringify([sessionId, processId]);
}
