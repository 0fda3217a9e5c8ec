// Questions about code, put to the language servers that VS Code runs, and their answers in LSP's words. Whatever extension brings them: it
// is the user's choice and set up by them, and it knows what is not saved yet.
//
// Null is "nobody here knows": then the sidecar asks a server of its own.

import {
  commands,
  type Definition,
  type DocumentSymbol,
  env,
  type Hover,
  languages,
  type Location,
  type LocationLink,
  type MarkdownString,
  Position,
  type SymbolInformation,
  TabInputText,
  type TextDocument,
  Uri,
  window,
  workspace,
} from "vscode";
import type {
  Code2ProtocolConverter,
  DocumentSymbolParams,
  LanguageClient,
  ReferenceParams,
  TextDocumentIdentifier,
  TextDocumentPositionParams,
  WorkspaceSymbolParams,
} from "vscode-languageclient/node";
import type * as lsp from "vscode-languageclient/node";
import { type LanguageAnswer, methods } from "./protocol";

/** How many milliseconds there are for the first diagnostics of a document; the sidecar waits for 3 s. */
const firstWordTime = 1500;

export function attendToQuestions(client: LanguageClient): void {
  const answers = new Answers(client.code2ProtocolConverter);
  client.onRequest(methods.editorDefinition, (question: TextDocumentPositionParams) =>
    about(question.textDocument, async (document) => answers.places(await definitions(document, positionOf(question)))));
  client.onRequest(methods.editorHover, (question: TextDocumentPositionParams) =>
    about(question.textDocument, async ({ uri }) => answers.hover((await commands.executeCommand<Hover[] | undefined>("vscode.executeHoverProvider", uri, positionOf(question))) ?? [])));
  client.onRequest(methods.editorReferences, (question: ReferenceParams) =>
    about(question.textDocument, async (document) => references(answers, document, question)));
  client.onRequest(methods.editorSymbols, (question: DocumentSymbolParams | WorkspaceSymbolParams) =>
    "query" in question ? find(answers, question.query) : about(question.textDocument, async (document) => answers.symbols(await symbols(document))));
  client.onRequest(methods.editorDiagnostics, async ({ textDocument }: DocumentSymbolParams) => {
    const document = await openedFor(Uri.parse(textDocument.uri));
    const found = languages.getDiagnostics(document.uri);
    const isLookedAt = found.length > 0 || (isInTab(document.uri) && !isNothing(await symbols(document)));
    return isLookedAt ? answered(await client.code2ProtocolConverter.asDiagnostics(found), null) : null;
  });
}

/** An answer about a document that did not change while it was asked about. */
async function about(of: TextDocumentIdentifier, ask: (document: TextDocument) => Promise<unknown>): Promise<LanguageAnswer | null> {
  const document = await workspace.openTextDocument(Uri.parse(of.uri)); // nothing is shown by that
  const { version } = document;
  const result = await ask(document);
  if (document.version !== version || (isNothing(result) && isNothing(await symbols(document)))) {
    return null; // VS Code does not say if anybody was there to be asked; whoever knows the symbols of a file reads its language
  }
  return answered(result, version);
}

function answered(result: unknown, version: number | null): LanguageAnswer {
  return { result, version, server: env.appName };
}

function isNothing(result: unknown): boolean {
  return result === null || (Array.isArray(result) && result.length === 0);
}

async function definitions({ uri }: TextDocument, at: Position): Promise<(Location | LocationLink)[]> {
  const found = await commands.executeCommand<Definition | LocationLink[] | undefined>("vscode.executeDefinitionProvider", uri, at);
  return found === undefined ? [] : [found].flat();
}

/** VS Code lists the declaration always. */
async function references(answers: Answers, document: TextDocument, question: ReferenceParams): Promise<unknown> {
  const found = (await commands.executeCommand<Location[] | undefined>("vscode.executeReferenceProvider", document.uri, positionOf(question))) ?? [];
  const without = question.context.includeDeclaration ? [] : await definitions(document, positionOf(question));
  return answers.places(found, without);
}

async function symbols({ uri }: TextDocument): Promise<FoundSymbol[]> {
  return (await commands.executeCommand<(DocumentSymbol | SymbolInformation)[] | undefined>("vscode.executeDocumentSymbolProvider", uri)) ?? [];
}

async function find(answers: Answers, query: string): Promise<LanguageAnswer | null> {
  const found = (await commands.executeCommand<SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", query)) ?? [];
  return found.length > 0 ? answered(answers.symbols(found), null) : null;
}

/**
 * Servers look at open documents alone, and some at those alone that have a tab. What they say of one that was not open comes a
 * while after that.
 */
async function openedFor(uri: Uri): Promise<TextDocument> {
  const isOpen = workspace.textDocuments.some((open) => open.uri.toString() === uri.toString());
  const told = isOpen ? undefined : firstWord(uri);
  const document = await workspace.openTextDocument(uri);
  await told;
  return document;
}

function isInTab(uri: Uri): boolean {
  return window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input instanceof TabInputText && input.uri.toString() === uri.toString()));
}

function firstWord(about: Uri): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
    const timer = setTimeout(end, firstWordTime);
    const listener = languages.onDidChangeDiagnostics(({ uris }) => {
      if (uris.some((uri) => uri.toString() === about.toString())) {
        end();
      }
    });
  });
}

function positionOf({ position }: TextDocumentPositionParams): Position {
  return new Position(position.line, position.character);
}

/** VS Code gives objects that are both at once. */
type FoundSymbol = DocumentSymbol | SymbolInformation;

export type Converter = Pick<Code2ProtocolConverter, "asUri" | "asRange" | "asSymbolKind">;

export class Answers {
  constructor(private readonly as: Converter) {}

  /** Each place once: several providers may know the same. */
  places(found: readonly (Location | LocationLink)[], without: readonly (Location | LocationLink)[] = []): lsp.Location[] {
    const excluded = without.map((one) => this.place(one));
    const out = new Map<string, lsp.Location>();
    for (const place of found.map((one) => this.place(one))) {
      if (!excluded.some((other) => other.uri === place.uri && isWithin(place.range, other.range))) {
        out.set(JSON.stringify(place), place);
      }
    }
    return [...out.values()];
  }

  /** What VS Code asks for comes as Markdown, whatever form its extension gave it. */
  hover(found: readonly Hover[]): lsp.Hover | null {
    const parts = found.flatMap(({ contents }) => (contents as MarkdownString[]).map(({ value }) => value)).filter((text) => text.trim() !== "");
    if (parts.length === 0) {
      return null;
    }
    const range = found.find((one) => one.range)?.range;
    return { contents: { kind: "markdown", value: [...new Set(parts)].join("\n\n") }, ...(range && { range: this.as.asRange(range) }) };
  }

  symbols(found: readonly FoundSymbol[]): (lsp.DocumentSymbol | lsp.SymbolInformation)[] {
    return found.map((one) => ("selectionRange" in one ? this.documentSymbol(one) : this.symbolInformation(one)));
  }

  private place(found: Location | LocationLink): lsp.Location {
    if ("targetUri" in found) {
      return { uri: this.as.asUri(found.targetUri), range: this.as.asRange(found.targetSelectionRange ?? found.targetRange) };
    }
    return { uri: this.as.asUri(found.uri), range: this.as.asRange(found.range) };
  }

  private documentSymbol({ name, detail, kind, range, selectionRange, children }: DocumentSymbol): lsp.DocumentSymbol {
    return {
      name,
      detail,
      kind: this.as.asSymbolKind(kind),
      range: this.as.asRange(range),
      selectionRange: this.as.asRange(selectionRange),
      children: children.map((child) => this.documentSymbol(child)),
    };
  }

  private symbolInformation({ name, kind, containerName, location }: SymbolInformation): lsp.SymbolInformation {
    return { name, kind: this.as.asSymbolKind(kind), containerName, location: this.place(location) };
  }
}

/** Servers differ in whether a declaration is its name or all of it. */
function isWithin(range: lsp.Range, other: lsp.Range): boolean {
  return !isBefore(range.start, other.start) && !isBefore(other.end, range.end);
}

function isBefore(one: lsp.Position, other: lsp.Position): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
