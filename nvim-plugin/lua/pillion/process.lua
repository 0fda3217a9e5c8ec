-- One process that an agent left running: what it printed, and the buffer in which the user watches it. The buffer is made
-- when they ask for it, holds plain text and colours, and takes neither a window nor the cursor by itself. It follows the end
-- while the cursor stands there.

local Output = require("pillion.output")
local bar = require("pillion.bar")
local escape = require("pillion.escape")
local keys = require("pillion.keys")
local page = require("pillion.page")
local words = require("pillion.words")

local api = vim.api
local space = api.nvim_create_namespace("pillion.process")

--- Of what came and is not in lines yet; a user's editor goes before a process that floods it.
local most_pending = 256 * 1024
--- At a time, so that keys are taken meanwhile.
local slice_bytes, slice_ms = 4096, 10

---@class pillion.Process
---@field sessionId string
---@field processId string the agent's own name for it
---@field agent? {name: string, via: string} until it is known nobody's
---@field pid? integer
---@field command? string
---@field cwd? string
---@field since integer seconds, when it was first heard of: at its start
---@field running boolean
---@field ended boolean all that it printed has come
---@field exitCode? integer
---@field client any
---@field output pillion.Output
---@field buffer integer
---@field next integer how many bytes of all that it printed have come
---@field private pending {text?: string, note?: string, missed?: integer}[]
---@field private pending_bytes integer
---@field private drawn {first: integer, last: integer} which lines the buffer has
local Process = {}
Process.__index = Process

local count = 0

---@param info {sessionId: string, processId: string}
---@param client any
---@return pillion.Process
function Process.new(info, client)
  count = count + 1
  return setmetatable({
    sessionId = info.sessionId,
    processId = info.processId,
    client = client,
    running = true,
    ended = false,
    since = os.time(),
    output = Output.new(),
    buffer = -1,
    number = count,
    next = 0,
    pending = {},
    pending_bytes = 0,
  }, Process)
end

--- What `process/list` knows of it. That it has ended may be known before the last of what it printed comes.
---@param info table
function Process:know(info)
  self:stop(info)
  for _, field in ipairs({ "agent", "pid", "command", "cwd" }) do
    self[field] = info[field] or self[field]
  end
end

---@param info {running: boolean, exitCode?: integer}
function Process:stop(info)
  if not info.running then
    self.running, self.exitCode = false, info.exitCode or self.exitCode
  end
end

--- Its name, safe to show.
function Process:name()
  return escape.short(self.processId, 40)
end

--- In a list: `▸ dev  npm run dev · claude · since 12:04`.
function Process:line()
  local sign = self.running and "▸" or self.exitCode == 0 and "✓" or "✗"
  local parts = { escape.short(self.command, 80), escape.visible(self.agent and self.agent.name), self:state() }
  return ("%s %s  %s"):format(sign, self:name(), words.joined(parts, " · "))
end

--- `running since 12:04`, `exit code 1`.
function Process:state()
  if self.running then
    return "running since " .. os.date("%H:%M", self.since)
  end
  return self.exitCode and "exit code " .. self.exitCode or "ended"
end

---@private
---@param item {text?: string, note?: string, missed?: integer}
function Process:wait_with(item)
  table.insert(self.pending, item)
  self.pending_bytes = self.pending_bytes + #(item.text or "")
  local missed = 0
  while self.pending_bytes > most_pending do
    local oldest, over = self.pending[1], self.pending_bytes - most_pending
    local size = #(oldest.text or "")
    local left = size > over and oldest.text:sub(over + 1 + vim.str_utf_end(oldest.text, over)) or nil
    local gone = size - #(left or "")
    missed, self.pending_bytes = missed + (oldest.missed or gone), self.pending_bytes - gone
    if left then
      oldest.text = left
    else
      table.remove(self.pending, 1)
    end
  end
  if missed > 0 then
    table.insert(self.pending, 1, { missed = missed })
  end
end

--- One `process/output`.
---@param info {text: string, start: integer, next: integer, running: boolean, exitCode?: integer}
function Process:take(info)
  if info.start > self.next then
    self:wait_with({ missed = info.start - self.next })
  end
  if info.next > self.next then
    self:wait_with({ text = info.text })
    self.next = info.next
  end
  if not info.running then
    self:finish(info.exitCode)
  end
end

--- It has ended, or nobody can say any more what became of it.
---@param exit_code? integer
---@param why? string
function Process:finish(exit_code, why)
  if not self.ended then
    self.ended = true
    self:stop({ running = false, exitCode = exit_code })
    self:wait_with({ note = why or (exit_code and "It ended with exit code " .. exit_code .. "." or "It ended.") })
  end
end

--- A line that the user typed to it: no terminal is there to repeat it.
---@param line string
function Process:typed(line)
  self:wait_with({ note = "> " .. escape.visible(line) })
end

--- Makes lines of what has come, for a moment.
---@return boolean more whether something is left for the next moment
function Process:settle()
  local deadline = vim.uv.hrtime() + slice_ms * 1e6
  while #self.pending > 0 and vim.uv.hrtime() < deadline do
    local item = table.remove(self.pending, 1)
    self.pending_bytes = self.pending_bytes - math.min(#(item.text or ""), slice_bytes)
    if item.missed then
      self.output:note(("… %s of output dropped here …"):format(words.count(item.missed, "byte")))
    elseif item.note then
      self.output:note(item.note)
    else
      self.output:write(item.text:sub(1, slice_bytes))
      if #item.text > slice_bytes then
        table.insert(self.pending, 1, { text = item.text:sub(slice_bytes + 1) })
      end
    end
  end
  self:draw()
  return #self.pending > 0
end

---@private
---@param number integer
function Process:paint(number)
  local line, row = self.output:line(number), number - self.output.first
  if line.note then
    api.nvim_buf_set_extmark(self.buffer, space, row, 0, { end_col = #line.text, hl_group = "PillionNote" })
  end
  for _, one in ipairs(line.paint) do
    local style = one.style
    for _, group in ipairs({ style.colour or false, style.bold and "Bold" or false, style.underline and "Underlined" or false }) do
      if group then
        api.nvim_buf_set_extmark(self.buffer, space, row, one.from, { end_col = one.to, hl_group = "PillionOutput" .. group })
      end
    end
  end
end

--- Brings the buffer, if there is one, up to date.
function Process:draw()
  local output, drawn = self.output, self.drawn
  if not api.nvim_buf_is_loaded(self.buffer) then
    return
  end
  if output.changed <= output.last then
    local anew = output.first > drawn.last
    local from = math.max(anew and output.first or output.changed, output.first)
    local lines = {}
    for number = from, output.last do
      lines[#lines + 1] = output:line(number).text
    end
    page.follow(self.buffer, function()
      api.nvim_buf_set_lines(self.buffer, 0, anew and -1 or output.first - drawn.first, false, {})
      api.nvim_buf_clear_namespace(self.buffer, space, from - output.first, -1)
      api.nvim_buf_set_lines(self.buffer, from - output.first, -1, false, lines)
    end)
    for number = from, output.last do
      self:paint(number)
    end
    self.drawn = { first = output.first, last = output.last }
    output:settle()
  end
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    bar.put(window, bar.process(self))
  end
end

---@private
function Process:redraw()
  vim.bo[self.buffer].undolevels = -1
  self.drawn = { first = 1, last = 0 }
  self.output.changed = self.output.first
  self:draw()
end

---@private
function Process:make()
  self.buffer = page.scratch(("pillion://process/%d/%s"):format(self.number, self:name()), "nofile")
  vim.b[self.buffer].pillion_process = self.number
  keys.bind_doings(self.buffer, {
    write = function()
      require("pillion.processes").write(self)
    end,
    kill = function()
      require("pillion.processes").kill(self)
    end,
  })
  page.refill(self.buffer, "nofile", function()
    self:redraw()
  end)
  self:redraw()
end

--- The user asked for it, so it has the cursor, at its end.
function Process:show()
  if not api.nvim_buf_is_loaded(self.buffer) then
    self:make()
  end
  local window, is_new = page.go_to(self.buffer)
  if is_new then
    vim.cmd("setlocal nonumber norelativenumber signcolumn=no wrap nospell nolist nofoldenable conceallevel=0")
  end
  self:draw()
  api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(self.buffer), 0 })
end

--- Nobody looks at it.
function Process:is_hidden()
  return not api.nvim_buf_is_loaded(self.buffer) or vim.fn.bufwinid(self.buffer) == -1
end

function Process:forget()
  if api.nvim_buf_is_valid(self.buffer) then
    api.nvim_buf_delete(self.buffer, { force = true })
  end
end

return Process
