// The view “Conversation”: draws what Conversations has, and passes on what the user does there: connect, talk, give files. The token is
// in VS Code's secret storage, by the gateway's address, and goes from there to the sidecar alone.

import { commands, type Disposable, type ExtensionContext, type SecretStorage, Uri, type Webview, type WebviewView, type WebviewViewProvider, window, workspace } from "vscode";
import { contextLabel, Conversations, entryHtml, frame, heading } from "./conversation";
import type { ContextFile, ContextUpdate, ConversationEntry, GatewayConnect, GatewayState } from "./conversation-protocol";
import { errorText, say } from "./notices";
import { methods } from "./protocol";
import type { Handler, Workbench } from "./workbench";

export function conversationParts({ extensionUri, secrets, subscriptions }: ExtensionContext): { conversations: Conversations; secrets: SecretStorage } {
  const conversations = new Conversations();
  subscriptions.push(new ConversationView(conversations, extensionUri));
  return { conversations, secrets };
}

/** What the page says. */
type Said = { kind: "ready" } | { kind: "send"; text: string } | { kind: keyof typeof buttons; path?: string };

const buttons = { connect: "pillion.connectGateway", disconnect: "pillion.disconnectGateway", remove: "pillion.removeFromContext", clear: "pillion.clearContext" };

class ConversationView implements WebviewViewProvider, Disposable {
  private page: Webview | undefined;
  private readonly registration = window.registerWebviewViewProvider("pillion.conversation", this);

  constructor(
    private readonly conversations: Conversations,
    private readonly extension: Uri,
  ) {
    conversations.listen({
      entries: (changed, removed) => this.tell({ kind: "entries", entries: changed.map((entry) => this.drawn(entry)), removed }),
      state: () => this.all(),
    });
  }

  dispose(): void {
    this.registration.dispose();
  }

  resolveWebviewView({ webview, onDidDispose }: WebviewView): void {
    const media = Uri.joinPath(this.extension, "media");
    webview.options = { enableScripts: true, localResourceRoots: [media] };
    webview.onDidReceiveMessage((said: Said) => void this.heard(said));
    onDidDispose(() => {
      this.page = undefined;
    });
    this.page = webview;
    const address = (name: string): string => webview.asWebviewUri(Uri.joinPath(media, name)).toString();
    webview.html = frame(address("conversation.js"), address("conversation.css"), webview.cspSource);
  }

  private async heard(said: Said): Promise<void> {
    if (said.kind === "ready") {
      this.all();
    } else if (said.kind === "send") {
      this.tell({ kind: "sent", problem: await commands.executeCommand<string | undefined>("pillion.sendMessage", said.text) });
    } else {
      await commands.executeCommand(buttons[said.kind], said.path);
    }
  }

  private drawn(entry: ConversationEntry): { id: string; html: string } {
    return { id: entry.entryId, html: entryHtml(entry, this.conversations.current?.agent.name ?? "") };
  }

  private all(): void {
    const { current, gateway, context } = this.conversations;
    const files = context.map((file) => ({ path: file.path, label: contextLabel(file) }));
    this.tell({ kind: "all", ...heading(current, gateway), id: current?.conversationId ?? "", entries: (current?.entries ?? []).map((entry) => this.drawn(entry)), files });
  }

  private tell(message: unknown): void {
    void this.page?.postMessage(message);
  }
}

const secret = (url: string): string => `gateway ${url}`;

export const conversationCommands: Record<string, Handler> = {
  "pillion.showConversation": () => commands.executeCommand("pillion.conversation.focus"),
  "pillion.connectGateway": connect,
  "pillion.disconnectGateway": async ({ session }) => { await session.request(methods.gatewayDisconnect, {}); },
  "pillion.forgetGatewayToken": forget,
  "pillion.sendMessage": send,
  "pillion.addFileToContext": (bench) => add(bench, false),
  "pillion.addSelectionToContext": (bench) => add(bench, true),
  "pillion.removeFromContext": remove,
  "pillion.clearContext": (bench) => update(bench, { action: "clear" }),
};

async function askUrl(): Promise<string | undefined> {
  const value = workspace.getConfiguration("pillion").get<string>("gateway.url");
  const url = await window.showInputBox({ title: "Connect to a gateway", prompt: "The gateway’s address", placeHolder: "wss://codelab.example.org/ws", value: value ?? "", ignoreFocusOut: true });
  return url?.trim() === "" ? undefined : url?.trim();
}

async function connect({ session, secrets, conversations }: Workbench): Promise<void> {
  const url = await askUrl();
  if (url === undefined) {
    return;
  }
  const kept = await secrets.get(secret(url));
  const token = kept ?? (await window.showInputBox({ title: "Token for the gateway", prompt: "Kept in VS Code’s secret storage; leave it empty if the gateway needs none", password: true, ignoreFocusOut: true }));
  if (token === undefined) {
    return;
  }
  await commands.executeCommand("pillion.conversation.focus"); // what is typed from now on is meant for the agent
  try {
    const { sessionId } = await session.request<GatewayState>(methods.gatewayConnect, { url, token } satisfies GatewayConnect);
    conversations.whenSettled(sessionId, ({ state }) => void (state === "connected" ? secrets.store(secret(url), token) : secrets.delete(secret(url))));
  } catch (error) {
    void say.error(`Pillion: ${errorText(error)}`);
  }
}

async function forget({ secrets }: Workbench): Promise<void> {
  const url = await askUrl();
  if (url !== undefined) {
    await secrets.delete(secret(url));
    void say.information("Pillion: the token is forgotten. The next connection asks for it.");
  }
}

/** Answers what went wrong, for the page, which keeps the message then. */
async function send({ session, conversations }: Workbench, given: unknown): Promise<string | undefined> {
  const one = conversations.current;
  if (!one) {
    return "No agent is connected.";
  }
  const text = typeof given === "string" ? given : await window.showInputBox({ title: "Message to the agent" });
  if (!text?.trim()) {
    return undefined;
  }
  try {
    await session.request(methods.conversationSend, { conversationId: one.conversationId, text });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

async function add(bench: Workbench, selected: boolean): Promise<void> {
  const editor = window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") {
    void say.information("Pillion: open the file that you want to add.");
    return;
  }
  const content = selected ? editor.document.getText(editor.selection) : "";
  if (selected && content === "") {
    void say.information("Pillion: select the text that you want to add.");
    return;
  }
  await update(bench, { action: "add_file", data: { path: editor.document.uri.fsPath, ...(content ? { content } : {}) } });
}

async function remove(bench: Workbench, given: unknown): Promise<void> {
  const path = typeof given === "string" ? given : await window.showQuickPick(bench.conversations.context.map((file: ContextFile) => file.path), { title: "Remove which file from the context?" });
  if (path !== undefined) {
    await update(bench, { action: "remove_file", data: { path } });
  }
}

async function update({ session, conversations }: Workbench, change: Omit<ContextUpdate, "conversationId">): Promise<void> {
  const one = conversations.current;
  if (!one) {
    void say.information("Pillion: no agent is connected.");
    return;
  }
  try {
    await session.request(methods.contextUpdate, { conversationId: one.conversationId, ...change } satisfies ContextUpdate);
  } catch (error) {
    void say.warning(`Pillion: ${errorText(error)}`);
  }
}
