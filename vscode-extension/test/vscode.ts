// What unit tests have in place of VS Code's API: the classes of results, as plain as they are.

/** What the files under test import, and no test comes to. */
export const [CodeLens, Disposable, env, EventEmitter, languages, McpStdioServerDefinition, Position, Range, TabInputText, TabInputTextDiff, Uri, workspace]: undefined[] = [];

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
