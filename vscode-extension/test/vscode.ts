// What unit tests have in place of VS Code's API: the classes of results, as plain as they are.

/** What the files under test import, and no test comes to. */
export const [CodeLens, Disposable, env, EventEmitter, languages, McpStdioServerDefinition, Position, TabInputText, TabInputTextDiff, workspace]: undefined[] = [];

export const Uri = {
  from: (parts: { scheme: string; authority: string; path: string }) => ({ ...parts, toString: () => `${parts.scheme}://${parts.authority}${parts.path}` }),
};

export class Range {
  readonly start: { line: number; character: number };
  readonly end: { line: number; character: number };

  constructor(...[line, character, endLine, endCharacter]: [number, number, number, number]) {
    [this.start, this.end] = [{ line, character }, { line: endLine, character: endCharacter }];
  }
}

export const [CommentMode, CommentThreadCollapsibleState] = [{ Preview: 1 }, { Expanded: 1 }];

/** What stands beneath a line. */
export class Thread {
  constructor(
    readonly uri: ReturnType<typeof Uri.from>,
    public range: Range,
    public comments: readonly { body: string }[] = [],
  ) {
    threads.add(this);
  }

  dispose(): void {
    threads.delete(this);
  }
}

/** Those that are there. */
export const threads = new Set<Thread>();

export const comments = {
  createCommentController: () => ({
    createCommentThread: (...given: ConstructorParameters<typeof Thread>) => new Thread(...given),
    dispose: () => threads.clear(),
  }),
};

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelDataPart {
  constructor(
    readonly data: Uint8Array,
    readonly mimeType: string,
  ) {}
}

export class LanguageModelToolResult {
  constructor(readonly content: unknown[]) {}
}

/** The tools that were registered, by name. */
export const registered = new Map<string, { invoke(options: { input: object }): Promise<LanguageModelToolResult> }>();

export const lm = {
  registerTool(name: string, tool: { invoke(options: { input: object }): Promise<LanguageModelToolResult> }) {
    registered.set(name, tool);
    return { dispose: () => registered.delete(name) };
  },
};

export const ProgressLocation = { Notification: 15 };

/** Warnings that were shown. */
export const warnings: string[] = [];

export const window = {
  showWarningMessage(message: string): Promise<undefined> {
    warnings.push(message);
    return Promise.resolve(undefined);
  },
};

/** What menus and keys were told, by key. */
export const contexts = new Map<string, unknown>();

export const commands = {
  executeCommand(_: "setContext", key: string, value: unknown): Promise<void> {
    contexts.set(key, value);
    return Promise.resolve();
  },
};
