// VS Code's names for encodings, as the rest of the world writes them. Pure.

const names: Record<string, string> = {
  utf8: "utf-8",
  utf8bom: "utf-8",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  shiftjis: "shift_jis",
  eucjp: "euc-jp",
  euckr: "euc-kr",
  big5hkscs: "big5",
  koi8r: "koi8-r",
  koi8u: "koi8-u",
  macroman: "macintosh",
  cp437: "ibm437",
  cp850: "ibm850",
  cp852: "ibm852",
  cp865: "ibm865",
  cp866: "ibm866",
  cp950: "big5",
};

/** UTF-16 files carry their mark always, UTF-8 ones only when VS Code says so. */
export function encodingOf(id: string): { encoding: string; bom: boolean } {
  const encoding = names[id] ?? id.replace(/^windows(\d)/, "windows-$1").replace(/^iso8859(\d+)$/, "iso-8859-$1");
  return { encoding, bom: id === "utf8bom" || id.startsWith("utf16") };
}
