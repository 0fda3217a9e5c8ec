// The life of the sidecar: found, spawned, restarted. One start or stop at a time; after a crash it comes back by itself,
// later each time, at most `maximumRestarts` times in a row. What the two say to each other is not known here.

import { Disposable, EventEmitter, type ExtensionContext, type LogOutputChannel, workspace } from "vscode";
import { type CancellationToken, CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions, type StaticFeature } from "vscode-languageclient/node";
import type { Documents } from "./documents";
import { locate, type Located } from "./locator";
import type { EditorCapabilities, SidecarCapabilities } from "./protocol";
import { withoutTokens } from "./trace-log";

export type State =
  | { kind: "starting" }
  | { kind: "ready"; version: string }
  | { kind: "stopped" }
  | { kind: "failed"; problem: string; missing: boolean };

const maximumRestarts = 5;
const firstDelayMs = 500;
/** A sidecar that lived this long starts the count anew. */
const healthyMs = 180_000;

const capabilities: EditorCapabilities = {
  approval: true,
  approvalKinds: ["plan", "review"],
  prompt: true,
  documents: true,
  languageFeatures: true,
};

export class Session implements Disposable {
  private client: LanguageClient | undefined;
  private work: Promise<void> = Promise.resolve();
  private restarts = 0;
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly configuration = workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("pillion.path")) {
      void this.restart();
    } else if (event.affectsConfiguration("pillion")) {
      void this.notify("workspace/didChangeConfiguration", { settings: { pillion: settings() } });
    }
  });
  private current: State = { kind: "stopped" };
  private readonly changes = new EventEmitter<State>();
  readonly onDidChangeState = this.changes.event;

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
    private readonly documents: Documents,
    /** Puts the handlers of our own methods on a client that is not started yet. */
    private readonly attend: (client: LanguageClient) => void,
  ) {}

  get state(): State {
    return this.current;
  }

  /** Those that can be set up; none before the sidecar has said which. */
  get agents(): NonNullable<SidecarCapabilities["agents"]> {
    const experimental = this.client?.initializeResult?.capabilities.experimental as { pillion?: SidecarCapabilities } | undefined;
    return experimental?.pillion?.agents ?? [];
  }

  /** Starts or restarts, with a clean count of failures: the user asked. */
  restart(): Promise<void> {
    this.restarts = 0;
    clearTimeout(this.timer);
    return this.queue(async () => {
      await this.halt();
      await this.launch();
    });
  }

  /** The program that a start would take, or the one that an agent's configuration should name. */
  locate(lasting = false): Promise<Located> {
    const places = {
      setting: workspace.getConfiguration("pillion").get("path", ""),
      extension: this.context.extensionPath,
      path: process.env["PATH"] ?? "",
      platform: process.platform,
    };
    return locate(places, lasting);
  }

  stop(): Promise<void> {
    clearTimeout(this.timer);
    return this.queue(async () => {
      await this.halt();
      this.become({ kind: "stopped" });
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.configuration.dispose();
    this.changes.dispose();
  }

  async request<T>(method: string, params: unknown, token?: CancellationToken): Promise<T> {
    const client = this.client;
    if (!client || this.current.kind !== "ready") {
      throw new Error("pillion is not running; restart it with the command Pillion: Restart");
    }
    return token ? client.sendRequest<T>(method, params, token) : client.sendRequest<T>(method, params);
  }

  async notify(method: string, params: unknown): Promise<void> {
    await this.client?.sendNotification(method, params);
  }

  private async launch(): Promise<void> {
    this.become({ kind: "starting" });
    const located = await this.locate();
    if ("problem" in located) {
      this.become({ kind: "failed", problem: located.problem, missing: true });
      return;
    }
    this.log.info(`sidecar: ${located.path} (${located.from})`);
    await this.connect(located.path);
  }

  private async connect(path: string): Promise<void> {
    const client: LanguageClient = new QuietClient("pillion", "Pillion", { command: path, args: ["serve"] }, this.options(() => client));
    client.registerFeature(introduction());
    this.client = client;
    this.startedAt = Date.now();
    this.documents.attach((method, params) => client.sendNotification(method, params));
    this.attend(client);
    try {
      await client.start();
    } catch (error) {
      this.log.error(error as Error);
      this.lost(client);
      return;
    }
    if (this.client === client) {
      this.become({ kind: "ready", version: client.initializeResult?.serverInfo?.version ?? "" });
    }
  }

  private options(client: () => LanguageClient): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: settings,
      outputChannel: this.log,
      traceOutputChannel: withoutTokens(this.log),
      middleware: this.documents.middleware,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.lost(client());
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** The sidecar ended, or never came up, without being asked to. */
  private lost(client: LanguageClient): void {
    if (this.client !== client) {
      return;
    }
    this.client = undefined;
    this.documents.attach(undefined);
    this.restarts = Date.now() - this.startedAt > healthyMs ? 1 : this.restarts + 1;
    if (this.restarts > maximumRestarts) {
      const problem = `the sidecar ended ${String(this.restarts)} times in a row; its output says why`;
      this.become({ kind: "failed", problem, missing: false });
      return;
    }
    this.become({ kind: "starting" });
    const delay = firstDelayMs * 2 ** (this.restarts - 1);
    this.log.warn(`sidecar ended; starting it again in ${String(delay)} ms`);
    this.timer = setTimeout(() => void this.queue(() => this.launch()), delay);
  }

  private async halt(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    this.documents.attach(undefined);
    if (client) {
      this.become({ kind: "stopped" });
      await client.dispose(5000).catch((error: unknown) => this.log.warn(`stopping the sidecar: ${String(error)}`));
    }
  }

  private become(state: State): void {
    this.current = state;
    this.changes.fire(state);
  }

  private queue(step: () => Promise<void>): Promise<void> {
    const done = this.work.then(step);
    this.work = done.catch((error: unknown) => this.log.error(String(error)));
    return this.work;
  }
}

/** Writes its troubles to the output alone: what the user has to know of them, the session's state says once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Says in `initialize` what this editor can do beyond LSP. */
function introduction(): StaticFeature {
  return {
    fillClientCapabilities: (client) => {
      client.experimental = { ...(client.experimental as object | undefined), pillion: capabilities };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  };
}

const ours = new Set(["chat", "notifications", "path", "requests", "trace"]);

/** Without defaults and without what is this extension's own business, so that the sidecar's other layers keep their say. */
function settings(): Record<string, unknown> {
  const configuration = workspace.getConfiguration("pillion");
  const names = Object.keys(configuration).filter((name) => !ours.has(name) && typeof configuration[name] !== "function");
  return Object.fromEntries(names.flatMap((name) => (isSet(name) ? [[name, configuration.get(name)]] : [])));
}

function isSet(name: string): boolean {
  const seen = workspace.getConfiguration("pillion").inspect(name);
  return [seen?.globalValue, seen?.workspaceValue, seen?.workspaceFolderValue].some((value) => value !== undefined);
}
