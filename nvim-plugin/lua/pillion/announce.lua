-- Says that something waits, in one line that asks for no key. Several lines at a time would make Neovim wait for one, and
-- take it from what the human types; so those of one moment become one.

local escape = require("pillion.escape")

local M = {}

--- Calls come in bursts; one line tells of all that came within this time.
local together_ms = 40

---@type {text: string, level: integer}[]
local lines = {}
local timer ---@type uv.uv_timer_t?

--- Neovim's own `vim.notify` echoes, and a line that is too long would wait for a key.
local function echoes()
  return vim.startswith(debug.getinfo(vim.notify, "S").source, "@vim/")
end

--- A message over a command line that is being typed, or over a prompt, would push it away.
local function in_the_way()
  return vim.tbl_contains({ "c", "r", "!" }, vim.api.nvim_get_mode().mode:sub(1, 1))
end

local function flush()
  timer = nil
  if #lines == 0 or in_the_way() then
    return
  end
  local first = lines[1]
  local text = #lines == 1 and first.text or ("%s (and %d more)"):format(first.text, #lines - 1)
  lines = {}
  local room = echoes() and math.max(20, vim.v.echospace - 1) or 300
  vim.notify(escape.short(text, room), first.level, { title = "Pillion" })
end

local function later()
  if not timer then
    timer = vim.defer_fn(flush, together_ms)
  end
end

---@param text string
---@param level integer?
function M.say(text, level)
  if #lines == 0 then
    vim.api.nvim_create_autocmd("ModeChanged", {
      group = vim.api.nvim_create_augroup("pillion.announce", {}),
      callback = later,
    })
  end
  lines[#lines + 1] = { text = text, level = level or vim.log.levels.INFO }
  later()
end

--- As `say`, for what the status line and `:Pillion` show as well; the human may not want to be told.
---@param text string
function M.waiting(text)
  if require("pillion.config").get().notify then
    M.say(text)
  end
end

return M
