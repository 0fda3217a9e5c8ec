-- `:Pillion connect [agent]`: puts Pillion into an agent's own configuration. The program does it, in a terminal: it shows what
-- it would write, and asks first.

local announce = require("pillion.announce")
local choose = require("pillion.choose")

local M = {}

M.agents = { "claude", "codex", "qwen", "gemini", "opencode" }

---@param agent string
local function install(agent)
  local located = require("pillion.locator").locate(require("pillion.config").get().path)
  if located.problem then
    announce.say("Pillion: " .. located.problem, vim.log.levels.ERROR)
    return
  end
  local command = { located.path, "mcp", "install", agent }
  vim.cmd.tabnew() -- all of what it shows should be seen
  if vim.fn.has("nvim-0.11") == 1 then
    vim.fn.jobstart(command, { term = true })
  else
    vim.fn.termopen(command)
  end
  vim.cmd.startinsert()
end

---@param agent string "" to be asked
function M.run(agent)
  if vim.tbl_contains(M.agents, agent) then
    install(agent)
  elseif agent ~= "" then
    announce.say("Pillion: unknown agent: use " .. table.concat(M.agents, ", "))
  else
    choose(M.agents, { prompt = "Connect which agent?", kind = "pillion.agent", format_item = tostring }, install)
  end
end

return M
