-- `:Pillion connect [agent]`: puts Pillion into an agent's own configuration. The program does it, in a terminal: it shows what
-- it would write, and asks first.

local announce = require("pillion.announce")
local choose = require("pillion.choose")

local M = {}

--- What can be connected, as the sidecars say.
---@return {id: string, name: string}[]
function M.agents()
  local client = require("pillion.client").ready()[1]
  return client and client.agents or {}
end

---@return string[]
function M.names()
  return vim.tbl_map(function(agent)
    return agent.id
  end, M.agents())
end

---@param id string
local function install(id)
  local located = require("pillion.locator").locate(require("pillion.config").get().path)
  if located.problem then
    announce.say("Pillion: " .. located.problem, vim.log.levels.ERROR)
    return
  end
  vim.cmd.tabnew() -- all of what it shows should be seen
  require("pillion.terminal").run({ located.path, "mcp", "install", id }, "connect " .. id)
end

---@param id string "" to be asked
function M.run(id)
  local names = M.names()
  if id ~= "" and #names > 0 and not vim.tbl_contains(names, id) then
    announce.say("Pillion: unknown agent: use " .. table.concat(names, ", "))
  elseif id ~= "" then
    install(id)
  elseif #names == 0 then
    announce.say("Pillion: open a project first, or name an agent: :Pillion connect claude")
  else
    choose(M.agents(), {
      prompt = "Connect which agent?",
      kind = "pillion.agent",
      format_item = function(agent)
        return agent.name
      end,
    }, function(agent)
      install(agent.id)
    end)
  end
end

return M
