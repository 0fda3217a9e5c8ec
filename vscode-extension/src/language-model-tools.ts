// Pillion's tools for VS Code's own chat. Each call goes through the sidecar's one door like any other agent's; VS Code
// is not asked to confirm anything, because the sidecar asks where asking is due.

import {
  type CancellationToken,
  type Disposable,
  type LanguageModelTool,
  type LanguageModelToolInvocationOptions,
  LanguageModelDataPart,
  LanguageModelTextPart,
  LanguageModelToolResult,
  lm,
  type PreparedToolInvocation,
} from "vscode";
import { methods, type ToolCall, type ToolContent, type ToolResult } from "./protocol";
import { tools } from "./tools.generated";

export type Request = <T>(method: string, params: unknown, token?: CancellationToken) => Promise<T>;

export function registerLanguageModelTools(request: Request): Disposable[] {
  return tools.map((tool) => lm.registerTool(tool.registered, new SidecarTool(tool.name, tool.title, request)));
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
