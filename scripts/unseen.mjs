// Prints nvim-plugin/lua/pillion/unseen.lua: what vscode-extension/src/escape.ts calls unseen, as ranges, because Lua's
// patterns know no Unicode. Usage: node scripts/unseen.mjs > nvim-plugin/lua/pillion/unseen.lua
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;

const ranges = [];
for (let code = 0x80, from = -1; code <= 0x110000; code++) {
  const hit = code < 0x110000 && unseen.test(String.fromCodePoint(code));
  if (hit && from < 0) {
    from = code;
  } else if (!hit && from >= 0) {
    ranges.push([from, code - 1]);
    from = -1;
  }
}
const words = ranges.map(([from, to]) => (from === to ? from.toString(16) : `${from.toString(16)}-${to.toString(16)}`));
const lines = [""];
for (const word of words) {
  if (`${lines.at(-1)} ${word}`.length > 118) {
    lines.push("");
  }
  lines[lines.length - 1] += lines.at(-1) ? ` ${word}` : word;
}
process.stdout.write(`-- Characters beyond ASCII that are not seen, or not seen as what they are (Unicode ${process.versions.unicode}).
-- Written by scripts/unseen.mjs; see escape.lua.
return [[
${lines.join("\n")}
]]
`);
