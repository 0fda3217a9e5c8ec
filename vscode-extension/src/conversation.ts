// The conversation with an agent that comes by a gateway, as the sidecar tells it: the newest, which is the one on show. And it as a page:
// its frame, and each entry as HTML. Pure. What an agent wrote is Markdown without HTML, images or any link but to the web; all else is
// text.

import MarkdownIt from "markdown-it";
import { duration } from "./activity";
import type { ContextFile, ConversationAppended, ConversationChanged, ConversationEntry, ConversationView as Conversation, GatewayState } from "./conversation-protocol";
import { visible } from "./escape";

interface ConversationListener {
  /** Entries that are new or changed, and the ids of those that are gone. */
  entries(changed: readonly ConversationEntry[], removed: readonly string[]): void;
  /** Anything else changed, or all of it. */
  state(): void;
}

export class Conversations {
  private readonly listeners: ConversationListener[] = [];
  private readonly states = new Map<string, GatewayState>();
  private readonly waiting = new Map<string, (state: GatewayState) => void>();
  current: Conversation | undefined;
  gateway: GatewayState | undefined;

  listen(listener: ConversationListener): void {
    this.listeners.push(listener);
  }

  change({ conversationId, entries = [], removed = [], closed, ...rest }: ConversationChanged): void {
    if (closed) {
      if (this.current?.conversationId === conversationId) {
        this.current = undefined;
        this.tell((listener) => listener.state());
      }
      return;
    }
    if (this.current?.conversationId !== conversationId) {
      if (rest.title === undefined) {
        return; // of an older one, which is not on show
      }
      this.current = { conversationId, title: rest.title, agent: { name: rest.title, via: "gateway" }, sessionId: "", status: "idle", message: "", connection: "disconnected", entries: [], context: [] };
    }
    const one = this.current;
    Object.assign(one, rest);
    one.entries = one.entries.filter(({ entryId }) => !removed.includes(entryId));
    for (const entry of entries) {
      const at = one.entries.findIndex(({ entryId }) => entryId === entry.entryId);
      one.entries.splice(at < 0 ? one.entries.length : at, at < 0 ? 0 : 1, entry);
    }
    this.tell((listener) => {
      if (entries.length + removed.length > 0) {
        listener.entries(entries, removed);
      }
      if (Object.keys(rest).length > 0) {
        listener.state();
      }
    });
  }

  append({ conversationId, entryId, text }: ConversationAppended): void {
    const entry = this.current?.conversationId === conversationId ? this.current.entries.find((one) => one.entryId === entryId) : undefined;
    if (entry) {
      entry.text += text;
      this.tell((listener) => listener.entries([entry], []));
    }
  }

  /** Calls back once a session's connection stands, or will not be made. */
  whenSettled(sessionId: string, settled: (state: GatewayState) => void): void {
    this.waiting.set(sessionId, settled);
    this.settle(sessionId);
  }

  private settle(sessionId: string): void {
    const [state, settled] = [this.states.get(sessionId), this.waiting.get(sessionId)];
    if (state && settled && (state.state === "connected" || state.error?.code === "PERMISSION_DENIED")) {
      this.waiting.delete(sessionId);
      settled(state);
    }
  }

  connected(state: GatewayState): void {
    this.gateway = state;
    this.states.set(state.sessionId, state);
    this.settle(state.sessionId);
    this.tell((listener) => listener.state());
  }

  /** The sidecar is gone, and what it knew with it. */
  end(): void {
    this.current = this.gateway = undefined;
    this.states.clear();
    this.waiting.clear();
    this.tell((listener) => listener.state());
  }

  get context(): readonly ContextFile[] {
    return this.current?.context ?? [];
  }

  private tell(event: (listener: ConversationListener) => void): void {
    this.listeners.forEach(event);
  }
}

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false }).disable("image");
markdown.validateLink = (url) => /^https?:\/\//i.test(url);

const icons: Record<string, string> = { queued: "…", running: "▸", waiting: "?", done: "✓", failed: "✗" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.codePointAt(0))};`);
}

/** An entry's own HTML; the page puts it into an element of its own. */
export function entryHtml({ kind, text, call }: ConversationEntry, agent: string): string {
  if (call) {
    const title = call.title === "" ? call.tool : call.title;
    return `<div class="call ${escaped(call.state)}"><span class="icon">${icons[call.state] ?? "·"}</span> ${escaped(visible(title))} <span class="summary">${escaped(visible(call.summary))}</span></div>`;
  }
  switch (kind) {
    case "agent":
      return `<div class="who">${escaped(visible(agent))}</div><div class="markdown">${markdown.render(text)}</div>`;
    case "user":
      return `<div class="who">You</div><div class="text">${escaped(text)}</div>`;
    default:
      return `<div class="${kind === "error" ? "error" : "notice"}">${escaped(text)}</div>`;
  }
}

const doing: Record<string, string> = { thinking: "thinking", executing_tool: "at work", waiting_approval: "waiting for your answer", error: "failed" };

/** What stands above the messages, and whether one can be written. */
export function heading(one: Conversation | undefined, gateway: GatewayState | undefined): { text: string; connected: boolean } {
  const state = one?.connection ?? gateway?.state ?? "disconnected";
  if (!one) {
    return { text: "No agent is connected.", connected: false };
  }
  const parts = [visible(one.agent.name), state];
  if (state === "connected") {
    const status = doing[one.status];
    parts.push(...(status ? [one.message ? `${status}: ${visible(one.message)}` : status] : []));
  } else if (gateway?.error) {
    parts.push(visible(gateway.error.message));
    if (gateway.retryInMs) {
      parts.push(`trying again in ${duration(gateway.retryInMs)}`);
    }
  }
  return { text: parts.join(" · "), connected: state === "connected" };
}

export function contextLabel({ path, content, lines = 0, by }: ContextFile): string {
  return `${visible(path)}${content ? ` (${String(lines)} lines)` : ""}${by === "agent" ? ", by the agent" : ""}`;
}

/** The page's frame: nothing is loaded but the two files of this extension. */
export function frame(script: string, style: string, source: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${source}; style-src ${source}">
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="bar"><span id="heading"></span><button id="connect">Connect…</button><button id="disconnect">Disconnect</button></div>
<div id="entries" role="log"></div>
<div id="empty">Connect to a gateway to talk to its agent here. Before it changes a file or runs a command, you are asked.</div>
<div id="context"></div>
<textarea id="message" rows="3" aria-label="Message to the agent"></textarea>
<div id="problem" role="alert"></div>
<script src="${script}"></script>
</body>
</html>`;
}
