-- Text that an agent chose, made safe to show: nothing in it may hide, reorder or break out of its line.

local M = {}

local named = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\27"] = "\\e", ["\0"] = "\\0" }

---@type {[1]: integer, [2]: integer}[]?
local ranges

---@param code integer
local function unseen(code)
  if not ranges then
    ranges = {}
    for from, to in require("pillion.unseen"):gmatch("(%x+)%-?(%x*)") do
      local first = tonumber(from, 16)
      ranges[#ranges + 1] = { first, to == "" and first or tonumber(to, 16) }
    end
  end
  local low, high = 1, #ranges
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local range = ranges[middle]
    if code < range[1] then
      high = middle - 1
    elseif code > range[2] then
      low = middle + 1
    else
      return true
    end
  end
  return false
end

--- One line: every invisible character is written out as `\u{…}`.
---@param text string?
---@return string
function M.visible(text)
  text = text or ""
  text = text:gsub("[%z\1-\31\127]", function(character)
    return named[character] or ("\\u{%x}"):format(character:byte())
  end)
  if text:find("[\128-\255]") then
    text = text:gsub("[\192-\247][\128-\191]*", function(character)
      local code = vim.fn.char2nr(character, true)
      return unseen(code) and ("\\u{%x}"):format(code) or nil
    end)
  end
  return text
end

--- Several lines: as `visible`, but line feeds stay.
---@param text string?
---@return string[]
function M.visible_lines(text)
  return vim.tbl_map(M.visible, vim.split(text or "", "\n", { plain = true }))
end

--- One line of at most `limit` characters, cut in the middle so that both ends can be read.
---@param text string?
---@param limit integer
---@return string
function M.short(text, limit)
  local all = M.visible(text)
  local count = vim.fn.strchars(all)
  if count <= limit then
    return all
  end
  local head = math.ceil((limit - 1) * 0.7)
  return vim.fn.strcharpart(all, 0, head) .. "…" .. vim.fn.strcharpart(all, count - (limit - 1 - head))
end

return M
