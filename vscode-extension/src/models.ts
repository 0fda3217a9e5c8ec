// Pillion's tools for VS Code's models. Its own chat gets them as tools of this extension: each call goes through the sidecar's one door like
// any other agent's; VS Code is not asked to confirm anything, because the sidecar asks where asking is due. Those of its agents that get no
// tools of extensions can get an MCP server. The chat would get that too, and each tool twice: so it is off until the user wants it.

import {
  type CancellationToken,
  Disposable,
  EventEmitter,
  type Extension,
  LanguageModelDataPart,
  LanguageModelTextPart,
  type LanguageModelTool,
  type LanguageModelToolInvocationOptions,
  LanguageModelToolResult,
  lm,
  McpStdioServerDefinition,
  type PreparedToolInvocation,
  workspace,
} from "vscode";
import { methods, type ToolCall, type ToolContent, type ToolResult } from "./protocol";
import type { Session } from "./session";

const setting = "pillion.chat.mcpServer";

/** The tools for VS Code's models, either way. */
export function registerForModels(session: Session, { packageJSON }: Extension<unknown>): Disposable[] {
  const { contributes } = packageJSON as { contributes: { languageModelTools: Contributed[] } };
  return [...registerLanguageModelTools(contributes.languageModelTools, session.request.bind(session)), registerMcpServer(session)];
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

export type Request = <T>(method: string, params: unknown, token?: CancellationToken) => Promise<T>;

/** A tool in package.json, which `make generate` writes from the sidecar's catalogue. */
interface Contributed {
  name: string;
  displayName: string;
}

export function registerLanguageModelTools(tools: readonly Contributed[], request: Request): Disposable[] {
  return tools.map(({ name, displayName }) => lm.registerTool(name, new SidecarTool(name.replace("pillion_", "").replace(/^git_/, "git."), displayName, request)));
}

class SidecarTool implements LanguageModelTool<object> {
  constructor(
    private readonly name: string,
    private readonly title: string,
    private readonly request: Request,
  ) {}

  prepareInvocation(): PreparedToolInvocation {
    return { invocationMessage: this.title };
  }

  async invoke(options: LanguageModelToolInvocationOptions<object>, token: CancellationToken): Promise<LanguageModelToolResult> {
    const call: ToolCall = { name: this.name, arguments: options.input, sessionId: "chat" }; // an agent's: without, it would be the user's own
    const result = await this.request<ToolResult>(methods.toolsCall, call, token);
    return new LanguageModelToolResult((result.content ?? []).map(partOf));
  }
}

/** Images and audio go to the model as such: what it can make of them is for it to say. */
function partOf({ text, data, mimeType }: ToolContent): LanguageModelTextPart | LanguageModelDataPart {
  return data === undefined ? new LanguageModelTextPart(text ?? "") : new LanguageModelDataPart(Buffer.from(data, "base64"), mimeType ?? "application/octet-stream");
}
