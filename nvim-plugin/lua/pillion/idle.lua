-- Waits until the user's hands are free. A step that opens or closes windows runs at once in normal mode, and else when they are
-- back in it: not while they insert, select, type a command, or are half-way through keys.
--
-- An edit waits for less. Neovim notes lines and columns when it begins to complete a word or to insert into a block, and goes by
-- them at the end: an edit in between has it delete other text than its own, or leave the block's other lines out.

local api = vim.api
local on = require("pillion.events").on("idle")

local M = {}

--- How long an edit waits. The sidecar waits longer.
M.patience_ms = 8000

---@type fun()[]
local steps = {}
local in_block = false
---@type { buffer: integer, go: fun(through: boolean) }[]
local edits = {}

local function run_steps()
  while #steps > 0 do
    local now = api.nvim_get_mode()
    if now.blocking or (now.mode ~= "n" and now.mode ~= "nt") or vim.fn.getcmdwintype() ~= "" then
      return
    end
    require("pillion.announce").guard(table.remove(steps, 1))
  end
end

---@param step fun()
function M.run(step)
  steps[#steps + 1] = step
  run_steps()
end

---@param buffer integer
local function is_midway(buffer)
  local mode = api.nvim_get_mode().mode
  return buffer == api.nvim_get_current_buf() and (mode:match("^[iR]v?[cx]") ~= nil or in_block and mode:sub(1, 1) == "i")
end

local function look()
  local all = edits
  edits = {}
  for _, one in ipairs(all) do
    if is_midway(one.buffer) then
      edits[#edits + 1] = one
    else
      one.go(true)
    end
  end
end

--- Runs an edit once, now or later. It is told whether the user is through.
---@param buffer integer
---@param edit fun(through: boolean)
---@param cancelled fun(callback: fun()) registers who wants to know that nobody needs the edit any more
function M.edit(buffer, edit, cancelled)
  if not is_midway(buffer) then
    edit(true)
    return
  end
  local one = { buffer = buffer }
  local timer ---@type uv.uv_timer_t
  local function leave()
    if not timer:is_closing() then
      timer:close()
    end
    edits = vim.tbl_filter(function(other)
      return other ~= one
    end, edits)
  end
  function one.go(through)
    leave()
    edit(through)
  end
  timer = vim.defer_fn(function()
    one.go(not is_midway(buffer))
  end, M.patience_ms)
  edits[#edits + 1] = one
  cancelled(leave)
end

on("ModeChanged", function()
  local old, new = vim.v.event.old_mode, vim.v.event.new_mode
  in_block = new:sub(1, 1) == "i" and (in_block or old == "\22") or new:sub(1, 2) == "ni" and in_block
end)
on({ "ModeChanged", "BufEnter", "WinEnter" }, vim.schedule_wrap(look))
on({ "ModeChanged", "CmdwinLeave", "CursorHold", "CursorMoved" }, function()
  if #steps > 0 then
    vim.schedule(run_steps)
  end
end)

return M
