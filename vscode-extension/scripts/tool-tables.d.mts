/** A tool as `tools/list` gives it. */
export interface CatalogueTool {
  name: string;
  title: string;
  description: string;
  access: string;
  inputSchema: unknown;
}

export function contribution(tool: CatalogueTool): Record<string, unknown>;
export function withTools(packageText: string, tools: readonly CatalogueTool[]): string;
