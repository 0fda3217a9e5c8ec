-- How well the sidecars see what happens to files outside of Neovim (`workspace/tracking`). Where that is not at once it is said
-- quietly: in the list of `:Pillion` and in `:checkhealth pillion`. Nothing is wrong then, only late. And how it stands with
-- the index by which they search (`workspace/index`).

local escape = require("pillion.escape")
local words = require("pillion.words")

local M = {}

---@type table<any, {degraded: boolean, reason: string, watched: integer}> by client
local known = {}

---@param params {degraded: boolean, reason: string, watched: integer}
---@param client any
function M.receive(params, client)
  known[client] = params
end

---@class pillion.Index
---@field building boolean for the first time
---@field percent integer
---@field files integer
---@field bytes integer

---@type table<any, pillion.Index> by client
local indexes = {}

---@param params pillion.Index
---@param client any
function M.index(params, client)
  indexes[client] = params
end

--- How much is done of an index that is being built; nil when none is.
---@return integer? percent
function M.indexing()
  local least
  for _, index in pairs(indexes) do
    if index.building then
      least = math.min(least or 100, index.percent)
    end
  end
  return least
end

--- What there is to say of a sidecar's index; nil when it has none.
---@param client any
---@return string?
function M.index_line(client)
  local index = indexes[client]
  if not index or (index.files == 0 and not index.building) then
    return nil
  elseif index.building then
    return ("the search index is being built, %d %% are done"):format(index.percent)
  end
  return ("search index: %s, %d MB of memory"):format(words.count(index.files, "file"), math.ceil(index.bytes / 2 ^ 20))
end

---@param client any
function M.abandon(client)
  known[client], indexes[client] = nil, nil
end

--- What is to be said of a sidecar's tracking; nil when all is well.
---@param client any
---@return string?
function M.line(client)
  local params = known[client]
  if params and params.degraded then
    return "outside changes are noticed late: " .. escape.short(params.reason, 160)
  end
end

---@return string[]
function M.lines()
  local lines = {}
  for client in pairs(known) do
    lines[#lines + 1] = M.line(client)
  end
  return lines
end

return M
