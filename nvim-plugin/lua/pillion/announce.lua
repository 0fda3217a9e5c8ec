-- Says that something waits, in one line that asks for no key. Several lines at a time would make Neovim wait for one, and
-- take it from what the user types; so those of one moment become one. While they insert or select, Neovim's own line
-- belongs to the mode: then it is said in a small window at the top, and once more when they are through. Without a line for
-- commands that window is all there is.

local escape = require("pillion.escape")

local api = vim.api

local M = {}

--- How long the small window stays.
M.toast_ms = 5000

--- Calls come in bursts; one line tells of all that came within this time.
local together_ms = 40
local look_ms = 500
--- What the user has just been told is not overwritten at once.
local heard_ms = 1500
local quiet_until = 0
local too_fast = "Too fast: press again"
---@type string? what they were told last
local told

---@type {text: string, level: integer, news?: (fun(): boolean), toasted?: boolean}[]
local lines = {}
local waking = false
local toast_window = -1

--- Neovim's own `vim.notify` echoes, and a line that is too long would wait for a key. Since 0.12 its own functions do not
--- say where they come from.
local function echoes()
  local source = debug.getinfo(vim.notify, "S").source
  return vim.startswith(source, "@vim/") or source == "?" or source == "=?"
end

--- `now`: the line can be echoed. `toast`: it would be gone at once. `later`: it would push away what is being typed.
---@return "now"|"toast"|"later"
local function moment()
  local mode = api.nvim_get_mode().mode:sub(1, 1)
  if vim.tbl_contains({ "c", "r", "!" }, mode) then
    return "later"
  elseif echoes() and (vim.o.cmdheight == 0 or (mode ~= "n" and vim.o.showmode)) then
    return "toast"
  end
  return "now"
end

--- Only one of them is shown whole: the first of the worst, for nothing else tells of a failure.
---@return string text, integer level
local function joined()
  local first = lines[1]
  for _, line in ipairs(lines) do
    if line.level > first.level then
      first = line
    end
  end
  local more = #lines > 1 and ("%s (and %d more)"):format(first.text, #lines - 1)
  return more or first.text, first.level
end

local function close_toast()
  pcall(api.nvim_win_close, toast_window, true) -- the user may have closed it
  toast_window = -1
end

local function drop_old_news()
  lines = vim.tbl_filter(function(line)
    return not line.news or line.news()
  end, lines)
end

--- In a terminal the user may wait for the very agent that asks: there it stays until the question is settled.
---@param window integer
---@param left integer ms
local function fade(window, left)
  vim.defer_fn(function()
    if window ~= toast_window then
      return
    end
    drop_old_news()
    if #lines == 0 or (left <= 0 and api.nvim_get_mode().mode ~= "t") then
      close_toast()
      lines = vim.o.cmdheight == 0 and {} or lines
    else
      fade(window, left - look_ms)
    end
  end, look_ms)
end

--- A window that cannot be entered, over the top right corner.
---@param text string
local function toast(text)
  close_toast()
  text = " " .. escape.short(text, math.max(20, vim.o.columns - 4)) .. " "
  local buffer = api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  api.nvim_buf_set_lines(buffer, 0, -1, false, { text })
  toast_window = api.nvim_open_win(buffer, false, {
    relative = "editor",
    anchor = "NE",
    row = 1,
    col = vim.o.columns,
    width = vim.fn.strdisplaywidth(text),
    height = 1,
    style = "minimal",
    focusable = false,
    noautocmd = true,
    zindex = 250,
  })
  vim.wo[toast_window].winhighlight = "Normal:PillionWaiting"
  fade(toast_window, M.toast_ms)
end

---@param text string
---@param level integer
local function notify(text, level)
  local room = echoes() and math.max(20, vim.v.echospace - 1) or 300
  vim.notify(escape.short(text, room), level, { title = "Pillion" })
end

local soon ---@type fun()

local function flush()
  waking = false
  if vim.uv.now() < quiet_until then
    soon()
    return
  end
  drop_old_news()
  local when = moment()
  if #lines == 0 or when == "later" then
    return
  elseif when == "toast" then
    local is_new = false
    for _, line in ipairs(lines) do
      is_new, line.toasted = is_new or not line.toasted, true
    end
    if is_new then
      toast((joined()))
    end
    return
  end
  close_toast()
  local text, level = joined()
  lines = {}
  notify(text, level)
end

soon = function()
  if not waking and #lines > 0 then
    waking = true
    vim.defer_fn(flush, math.max(together_ms, quiet_until - vim.uv.now()))
  end
end

---@param text string
---@param level integer?
---@param news? fun(): boolean whether it is still worth saying when there is a moment for it
function M.say(text, level, news)
  lines[#lines + 1] = { text = text, level = level or vim.log.levels.INFO, news = news }
  api.nvim_create_autocmd("ModeChanged", { group = api.nvim_create_augroup("pillion.announce", {}), callback = soon })
  soon()
end

--- What came of something that the user has just done: at once, and by itself.
---@param text string
---@param level integer?
function M.tell(text, level)
  if vim.uv.now() < quiet_until then
    vim.cmd.redraw() -- else Neovim waits for a key below two lines
  end
  told, quiet_until = text, vim.uv.now() + heard_ms
  notify(text, level or vim.log.levels.INFO)
end

--- A key came too early.
function M.too_fast()
  M.tell(too_fast)
end

--- The request for which a key came too early is not in front any more: the line would stand there for nothing.
function M.in_time()
  if told == too_fast and echoes() then
    api.nvim_echo({ { "" } }, false, {})
  end
  told = nil
end

--- Something failed that should not: one line for the user, and all of it for whoever looks into Neovim's log of language
--- servers. Raised as an error it would make Neovim wait for a key.
---@param problem string with a traceback
function M.trouble(problem)
  vim.lsp.log.error("pillion", problem)
  M.say("Pillion: " .. problem:match("[^\n]*"), vim.log.levels.ERROR)
end

--- Runs what may fail without that being anybody else's concern: raised in a callback, an error makes Neovim wait for a key.
---@param run function
function M.guard(run, ...)
  local fine, problem = xpcall(run, debug.traceback, ...)
  if not fine then
    M.trouble(problem)
  end
end

--- As `say`, for what the status line and `:Pillion` show as well; the user may not want to be told.
---@param text string
---@param news? fun(): boolean
function M.waiting(text, news)
  if require("pillion.config").current.notify then
    M.say(text, nil, news)
  end
end

return M
