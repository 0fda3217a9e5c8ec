-- Waits until the user's hands are free: a step that opens or closes windows runs at once in normal mode, and else when
-- they are back in it. Nothing here runs while they insert, select, type a command, or are half-way through keys.

local api = vim.api

local M = {}

---@type fun()[]
local steps = {}

local function free()
  local now = api.nvim_get_mode()
  return not now.blocking and (now.mode == "n" or now.mode == "nt") and vim.fn.getcmdwintype() == ""
end

local function drain()
  while #steps > 0 and free() do
    require("pillion.announce").guard(table.remove(steps, 1))
  end
end

require("pillion.events").on("idle")({ "ModeChanged", "CmdwinLeave", "CursorHold", "CursorMoved" }, function()
  if #steps > 0 then
    vim.schedule(drain)
  end
end)

---@param step fun()
function M.run(step)
  steps[#steps + 1] = step
  drain()
end

return M
