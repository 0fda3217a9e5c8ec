-- Neovim notes lines and columns when it begins to complete a word or to insert into a block, and goes by them at the end: an edit in
-- between has it delete other text than its own, or leave the block's other lines out. Such an edit waits until the user is
-- through, for a while.

local api = vim.api

local M = {}

--- The sidecar waits longer.
M.patience_ms = 8000

local in_block = false
---@type { buffer: integer, go: fun(through: boolean) }[]
local waiting = {}

---@param buffer integer
local function is_midway(buffer)
  local mode = api.nvim_get_mode().mode
  return buffer == api.nvim_get_current_buf() and (mode:match("^[iR]v?[cx]") ~= nil or in_block and mode:sub(1, 1) == "i")
end

local function look()
  local all = waiting
  waiting = {}
  for _, one in ipairs(all) do
    if is_midway(one.buffer) then
      waiting[#waiting + 1] = one
    else
      one.go(true)
    end
  end
end

--- Runs `step` once, now or later. It is told whether the user is through.
---@param buffer integer
---@param step fun(through: boolean)
---@param cancelled fun(callback: fun()) registers who wants to know that nobody needs the step any more
function M.wait(buffer, step, cancelled)
  if not is_midway(buffer) then
    step(true)
    return
  end
  local one = { buffer = buffer }
  local timer ---@type uv.uv_timer_t
  local function leave()
    if not timer:is_closing() then
      timer:close()
    end
    waiting = vim.tbl_filter(function(other)
      return other ~= one
    end, waiting)
  end
  function one.go(through)
    leave()
    step(through)
  end
  timer = vim.defer_fn(function()
    one.go(not is_midway(buffer))
  end, M.patience_ms)
  waiting[#waiting + 1] = one
  cancelled(leave)
end

function M.setup()
  local on = require("pillion.events").on("midway")
  on("ModeChanged", function()
    local old, new = vim.v.event.old_mode, vim.v.event.new_mode
    in_block = new:sub(1, 1) == "i" and (in_block or old == "\22") or new:sub(1, 2) == "ni" and in_block
    if #waiting > 0 then
      vim.schedule(look)
    end
  end)
  on({ "BufEnter", "WinEnter" }, vim.schedule_wrap(look))
end

return M
