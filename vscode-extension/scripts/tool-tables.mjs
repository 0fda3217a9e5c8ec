// What this extension says about the sidecar's tools, made from the catalogue that `pillion tools --json` prints:
// {tools: [{name, title, description, inputSchema, access, …}]}. The same catalogue always gives the same bytes.

/** VS Code refuses dots in tool names. The extension takes a name back, and knows of git's alone that they have one. */
function registeredName(name) {
  const [space, dotted] = name.split(".");
  if (dotted !== undefined ? space !== "git" : name.startsWith("git_")) {
    throw new Error(`src/models.ts would call ${name} by another name`);
  }
  return `pillion_${name.replace(".", "_")}`;
}

export function contribution(tool) {
  return {
    name: registeredName(tool.name),
    displayName: tool.title,
    toolReferenceName: registeredName(tool.name),
    canBeReferencedInPrompt: true,
    modelDescription: tool.description,
    userDescription: firstSentence(tool.description),
    icon: icons[tool.access] ?? "$(tools)",
    tags: ["pillion", tool.access],
    inputSchema: tool.inputSchema,
  };
}

/** package.json with its languageModelTools replaced and every other byte kept. */
export function withTools(packageText, tools) {
  const key = '"languageModelTools": ';
  const start = packageText.indexOf(key) + key.length;
  if (start < key.length) {
    throw new Error("package.json has no languageModelTools to replace");
  }
  const end = closing(packageText, start);
  const indented = JSON.stringify(tools.map(contribution), null, 2).replaceAll("\n", "\n    ");
  return packageText.slice(0, start) + indented + packageText.slice(end);
}

function closing(text, start) {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") depth++;
    else if ((character === "]" || character === "}") && --depth === 0) return at + 1;
  }
  throw new Error("package.json ends inside languageModelTools");
}

const icons = { read: "$(book)", edit: "$(edit)", exec: "$(terminal)", network: "$(globe)", vcs: "$(git-commit)", human: "$(person)", session: "$(list-unordered)" };

function firstSentence(text) {
  return /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
}
