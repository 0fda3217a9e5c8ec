-- What stands on the page of a text that the sidecar sends in parts, as it does of git: what is said of it and the facts at the
-- top, the diff below the answers.

local escape = require("pillion.escape")

local visible = escape.visible

local M = {}

---@param sheet pillion.Sheet
---@param preview pillion.Preview
---@param own? string the human's own message
function M.parts(sheet, preview, own)
  if own or preview.message then
    sheet:code(escape.visible_lines(((own or preview.message):gsub("%s+$", ""))), "  ", "  ")
    if own then
      sheet:line("  You edited this message; the agent learns of it.", "Warning")
    end
    sheet:gap()
  end
  for _, fact in ipairs(preview.facts) do
    sheet:fact(visible(fact.name), vim.tbl_map(visible, fact.values or {}), fact.notable and "Warning" or nil)
  end
end

local paints = { ["+"] = "Added", ["-"] = "Removed", ["@"] = "Muted" }

--- A diff of several files in git's format, whole; of its headers what the files' names and modes do not say is left out.
---@param sheet pillion.Sheet
---@param preview pillion.Preview
function M.diff(sheet, preview)
  if preview.kind ~= "text" or (preview.diff or "") == "" then
    return
  end
  sheet:gap()
  local in_hunk = false
  for _, line in ipairs(escape.visible_lines((preview.diff:gsub("\n$", "")))) do
    in_hunk = vim.startswith(line, "@@") or in_hunk and line:find("^[-+ \\]") ~= nil
    if in_hunk then
      sheet:line("  " .. line, paints[line:sub(1, 1)])
    elseif not (line:find("^index ") or line:find("^%-%-%- ") or line:find("^%+%+%+ ")) then
      sheet:line("  " .. line, "Label")
    end
  end
end

return M
