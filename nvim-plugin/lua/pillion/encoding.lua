-- Neovim's names for encodings, as the rest of the world writes them. Pure.

local M = {}

---@type table<string, string>
local names = {
  [""] = "utf-8",
  latin1 = "iso-8859-1",
  ["ucs-2"] = "utf-16be",
  ["ucs-2be"] = "utf-16be",
  ["ucs-2le"] = "utf-16le",
  ["utf-16"] = "utf-16be",
  sjis = "shift_jis",
  cp932 = "shift_jis",
  cp949 = "euc-kr",
  ["euc-cn"] = "gbk",
  cp936 = "gbk",
  ["euc-tw"] = "big5",
  cp950 = "big5",
  macroman = "macintosh",
  cp437 = "ibm437",
  cp850 = "ibm850",
  cp852 = "ibm852",
  cp855 = "ibm855",
  cp866 = "ibm866",
  cp874 = "windows-874",
}

---@param fileencoding string the option's value
---@return string
function M.name(fileencoding)
  local name = fileencoding:lower()
  return names[name] or (name:gsub("^cp(125%d)$", "windows-%1"))
end

return M
