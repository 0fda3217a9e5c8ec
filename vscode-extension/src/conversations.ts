// The conversation with an agent that comes by a gateway, as the sidecar tells it: the newest, which is the one on show.

import type { ContextFile, ConversationAppended, ConversationChanged, ConversationEntry, ConversationView as Conversation, GatewayState } from "./conversation-protocol";

export interface ConversationListener {
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
        this.tell((listener) => { listener.state(); });
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
      this.tell((listener) => { listener.entries([entry], []); });
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
    this.tell((listener) => { listener.state(); });
  }

  /** The sidecar is gone, and what it knew with it. */
  end(): void {
    this.current = this.gateway = undefined;
    this.states.clear();
    this.waiting.clear();
    this.tell((listener) => { listener.state(); });
  }

  get context(): readonly ContextFile[] {
    return this.current?.context ?? [];
  }

  private tell(event: (listener: ConversationListener) => void): void {
    this.listeners.forEach(event);
  }
}
