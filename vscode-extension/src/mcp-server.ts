// Pillion as an MCP server of VS Code, for those of its agents that get no tools of extensions. Its chat does, and would have
// each tool twice: so this is off until the user wants it.

import { Disposable, EventEmitter, lm, McpStdioServerDefinition, workspace } from "vscode";
import { registerLanguageModelTools } from "./language-model-tools";
import type { Session } from "./session";

const setting = "pillion.chat.mcpServer";

/** The tools for VS Code's models, either way. */
export function registerForModels(session: Session): Disposable[] {
  return [...registerLanguageModelTools(session.request.bind(session)), registerMcpServer(session)];
}

function registerMcpServer(session: Session): Disposable {
  const changes = new EventEmitter<void>();
  const provideMcpServerDefinitions = async (): Promise<McpStdioServerDefinition[]> => {
    const folder = workspace.workspaceFolders?.[0]?.uri;
    if (workspace.getConfiguration().get(setting) !== true || folder === undefined) {
      return [];
    }
    const located = await session.locate();
    if ("problem" in located) {
      return []; // the status bar says it
    }
    const server = new McpStdioServerDefinition("Pillion", located.path, ["mcp"]);
    server.cwd = folder;
    return [server];
  };
  return Disposable.from(
    changes,
    lm.registerMcpServerDefinitionProvider("pillion.server", { onDidChangeMcpServerDefinitions: changes.event, provideMcpServerDefinitions }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(setting)) {
        changes.fire();
      }
    }),
  );
}
