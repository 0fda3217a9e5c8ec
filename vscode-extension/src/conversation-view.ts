// The view “Conversation”: draws what Conversations has, and passes on what the user does there.

import { commands, type Disposable, type ExtensionContext, type SecretStorage, Uri, type Webview, type WebviewView, type WebviewViewProvider, window } from "vscode";
import { contextLabel, entryHtml, frame, heading } from "./conversation-page";
import type { ConversationEntry } from "./conversation-protocol";
import { Conversations } from "./conversations";

export function conversationParts({ extensionUri, secrets, subscriptions }: ExtensionContext): { conversations: Conversations; secrets: SecretStorage } {
  const conversations = new Conversations();
  subscriptions.push(new ConversationView(conversations, extensionUri));
  return { conversations, secrets };
}

/** What the page says. */
type Said = { kind: "ready" } | { kind: "send"; text: string } | { kind: "remove"; path: string } | { kind: "connect" | "disconnect" | "clear" };

class ConversationView implements WebviewViewProvider, Disposable {
  private page: Webview | undefined;
  private readonly registration = window.registerWebviewViewProvider("pillion.conversation", this);

  constructor(
    private readonly conversations: Conversations,
    private readonly extension: Uri,
  ) {
    conversations.listen({
      entries: (changed, removed) => {
        this.tell({ kind: "entries", entries: changed.map((entry) => this.drawn(entry)), removed });
      },
      state: () => {
        this.all();
      },
    });
  }

  dispose(): void {
    this.registration.dispose();
  }

  resolveWebviewView({ webview, onDidDispose }: WebviewView): void {
    const media = Uri.joinPath(this.extension, "media");
    webview.options = { enableScripts: true, localResourceRoots: [media] };
    webview.onDidReceiveMessage((said: Said) => {
      void this.heard(said);
    });
    onDidDispose(() => {
      this.page = undefined;
    });
    this.page = webview;
    const address = (name: string): string => webview.asWebviewUri(Uri.joinPath(media, name)).toString();
    webview.html = frame(address("conversation.js"), address("conversation.css"), webview.cspSource);
  }

  private async heard(said: Said): Promise<void> {
    switch (said.kind) {
      case "ready":
        this.all();
        break;
      case "send":
        this.tell({ kind: "sent", problem: await commands.executeCommand<string | undefined>("pillion.sendMessage", said.text) });
        break;
      case "connect":
        await commands.executeCommand("pillion.connectGateway");
        break;
      case "disconnect":
        await commands.executeCommand("pillion.disconnectGateway");
        break;
      case "remove":
        await commands.executeCommand("pillion.removeFromContext", said.path);
        break;
      case "clear":
        await commands.executeCommand("pillion.clearContext");
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
