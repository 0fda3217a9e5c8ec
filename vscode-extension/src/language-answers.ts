// What VS Code's providers give, in LSP's words.

import type { DocumentSymbol, Hover, Location, LocationLink, MarkdownString, SymbolInformation } from "vscode";
import type { Code2ProtocolConverter } from "vscode-languageclient/node";
import type * as lsp from "vscode-languageclient/node";

/** VS Code gives objects that are both at once. */
export type FoundSymbol = DocumentSymbol | SymbolInformation;

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
