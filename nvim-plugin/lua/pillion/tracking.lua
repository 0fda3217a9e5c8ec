-- How well the sidecars see what happens to files outside of Neovim (`workspace/tracking`). Where that is not at once it is said
-- quietly: in the list of `:Pillion` and in `:checkhealth pillion`. Nothing is wrong then, only late.

local escape = require("pillion.escape")

local M = {}

---@type table<any, {degraded: boolean, reason: string, watched: integer}> by client
local known = {}

---@param params {degraded: boolean, reason: string, watched: integer}
---@param client any
function M.receive(params, client)
  known[client] = params
end

---@param client any
function M.abandon(client)
  known[client] = nil
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
