-- JSON-RPC over the stdio of a process: what stands under `vim.lsp` for the sidecar. vim.lsp.rpc would do but for three
-- things that an approval needs: an answer that is given minutes later, the id that `$/cancelRequest` names, and
-- errors with any code. What messages mean is not known here.

local M = {}

---@class pillion.rpc.Handlers
---@field request fun(method: string, params: any, reply: fun(result: any, err?: table), cancelled: fun(callback: fun()))
---@field notification fun(method: string, params: any)
---@field stderr fun(text: string)
---@field trace? fun(direction: string, body: string) every message, as it goes and as it comes
---@field exit fun(code: integer, signal: integer)
---@field busy? table<string, fun(params: any): any> results for requests that must not wait while Neovim waits for a key

---@class pillion.rpc.Connection
---@field process vim.SystemObj
---@field private handlers pillion.rpc.Handlers
---@field private last integer id of the last request that we sent
---@field private asked table<integer, fun(err?: table, result: any)> who waits for an answer to us, by id
---@field private unasked table<string, fun()> who wants to know that the sidecar gave up a request of its own, by its id in JSON
---@field private queued table<string, pillion.rpc.Message> requests to us that Neovim has not come to yet, by id in JSON
---@field private closed boolean
local Connection = {}
Connection.__index = Connection

---@class pillion.rpc.Message
---@field id? any
---@field method? string
---@field params? any
---@field result? any
---@field error? table
---@field dead? boolean answered or withdrawn before Neovim came to it
---@field timer? uv.uv_timer_t

--- While Neovim waits for a key, at a message that fills the screen or at a question of its own, it does nothing else.
M.busy_ms = 10000

---@type table<string, integer>
M.codes = { method_not_found = -32601, internal_error = -32603, request_cancelled = -32800 }

--- Starts a process and speaks with it. Handlers run on the main loop, in the order of the messages.
---@param command string[]
---@param options { cwd?: string, env?: table<string, string> }
---@param handlers pillion.rpc.Handlers
---@return pillion.rpc.Connection? connection, string? problem
function M.start(command, options, handlers)
  handlers.trace = handlers.trace or function() end
  local self = setmetatable({ handlers = handlers, last = 0, asked = {}, unasked = {}, queued = {}, closed = false }, Connection)
  local read = M.reader(function(body)
    self:arrive(body)
  end)
  local ok, process = pcall(
    vim.system,
    command,
    {
      cwd = options.cwd,
      -- Whoever knows where this Neovim listens can type into it; the sidecar has no use for it.
      env = vim.tbl_extend("force", { NVIM = "", NVIM_LISTEN_ADDRESS = "" }, options.env or {}),
      stdin = true,
      stdout = function(_, data)
        if data then
          read(data)
        end
      end,
      stderr = vim.schedule_wrap(function(_, data)
        if data then
          handlers.stderr(data)
        end
      end),
      detach = vim.fn.has("win32") == 0, -- what stops or suspends the editor in its terminal is not meant for the sidecar
    },
    vim.schedule_wrap(function(done)
      self:ended(done.code, done.signal)
    end)
  )
  if not ok then
    return nil, (tostring(process):gsub("^.-:%d+: ", "")) -- without the line of Neovim's that says so
  end
  self.process = process
  return self
end

--- Takes bytes as they come and hands on whole messages.
---@param message fun(body: string)
---@return fun(data: string)
function M.reader(message)
  local pieces, have = {}, 0 ---@type string[], integer
  local need ---@type integer? bytes of header and body; unknown before the header is whole
  local from = 0 ---@type integer bytes of the header
  return function(data)
    pieces[#pieces + 1], have = data, have + #data
    while have > 0 and (not need or have >= need) do
      local text = table.concat(pieces)
      pieces = { text }
      if not need then
        local _, finish = text:find("\r\n\r\n", 1, true)
        local length = finish and tonumber(text:sub(1, finish):lower():match("content%-length:%s*(%d+)"))
        if not length then
          return
        end
        need, from = finish + length, finish
      else
        local body, rest = text:sub(from + 1, need), text:sub(need + 1)
        pieces, have, need = { rest }, #rest, nil
        message(body)
      end
    end
  end
end

---@private
function Connection:send(message)
  if self.closed or self.process:is_closing() then
    return false
  end
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  if body:find("\\/", 1, true) then
    body = body:gsub("\\(.)", { ["/"] = "/" }) -- arguments are shown as they came
  end
  self.handlers.trace("to the sidecar", body)
  return (pcall(self.process.write, self.process, ("Content-Length: %d\r\n\r\n%s"):format(#body, body)))
end

---@param method string
---@param params any
---@return boolean sent
function Connection:notify(method, params)
  return self:send({ method = method, params = params })
end

---@param method string
---@param params any
---@param callback fun(err?: table, result: any)
---@return boolean sent, integer? id
function Connection:request(method, params, callback)
  self.last = self.last + 1
  local id = self.last
  self.asked[id] = callback
  if not self:send({ id = id, method = method, params = params }) then
    self.asked[id] = nil
    return false
  end
  return true, id
end

---@param message pillion.rpc.Message
local function key_of(message)
  return vim.json.encode(message.id)
end

--- As soon as a message is read, at whatever Neovim is: what cannot wait for it is done here.
---@private
---@param body string
function Connection:arrive(body)
  self.handlers.trace("from the sidecar", body)
  local ok, message = pcall(vim.json.decode, body, { luanil = { object = true, array = true } })
  if not ok or type(message) ~= "table" then
    vim.schedule(function()
      self.handlers.stderr("pillion sent an invalid message: " .. body:sub(1, 200) .. "\n")
    end)
    return
  end
  if message.method == "$/cancelRequest" then
    local withdrawn = self.queued[key_of(message.params or {})]
    if withdrawn then
      self:answer_early(withdrawn, nil, { code = M.codes.request_cancelled, message = "cancelled before it was begun" })
    end
  elseif message.method and message.id ~= nil then
    self.queued[key_of(message)] = message
    local busy = (self.handlers.busy or {})[message.method]
    if busy then
      message.timer = vim.uv.new_timer()
      message.timer:start(M.busy_ms, 0, function()
        self:answer_early(message, busy(message.params), nil)
      end)
    end
  end
  vim.schedule(function()
    self:receive(message)
  end)
end

---@private
---@param message pillion.rpc.Message
function Connection:unqueue(message)
  self.queued[key_of(message)] = nil
  if message.timer then
    message.timer:close()
    message.timer = nil
  end
end

---@private
---@param message pillion.rpc.Message
function Connection:answer_early(message, result, err)
  message.dead = true
  self:unqueue(message)
  self:send({ id = message.id, result = result, error = err })
end

---@private
---@param message pillion.rpc.Message
function Connection:receive(message)
  if message.method == "$/cancelRequest" then
    local key = key_of(message.params or {})
    local given_up = self.unasked[key]
    self.unasked[key] = nil
    if given_up then
      given_up()
    end
  elseif message.method and message.id ~= nil then
    if not message.dead then
      self:unqueue(message)
      self:asked_of_us(message)
    end
  elseif message.method then
    self.handlers.notification(message.method, message.params)
  elseif message.id ~= nil then
    local callback = self.asked[message.id]
    self.asked[message.id] = nil
    if callback then
      callback(message.error, message.result)
    end
  end
end

---@private
function Connection:asked_of_us(message)
  local key, answered = key_of(message), false
  local function reply(result, err)
    if answered then
      return
    end
    answered = true
    self.unasked[key] = nil
    if result == nil then
      result = vim.NIL
    end
    local answer = { id = message.id, error = err }
    if not err then
      answer.result = result
    end
    self:send(answer)
  end
  local function cancelled(callback)
    if not answered then
      self.unasked[key] = callback
    end
  end
  local ok, problem = xpcall(self.handlers.request, debug.traceback, message.method, message.params, reply, cancelled)
  if not ok then
    self.handlers.stderr("answering " .. message.method .. ": " .. problem .. "\n")
    reply(nil, { code = M.codes.internal_error, message = "the editor failed: " .. problem:match("[^\n]*") })
  end
end

---@private
function Connection:ended(code, signal)
  self.closed = true
  for _, message in pairs(self.queued) do
    message.dead = true
    self:unqueue(message)
  end
  local asked = self.asked
  self.asked, self.unasked = {}, {}
  for _, callback in pairs(asked) do
    local ok, problem = xpcall(callback, debug.traceback, { code = M.codes.request_cancelled, message = "pillion ended" })
    if not ok then -- the others are told all the same
      self.handlers.stderr("telling that pillion ended: " .. problem .. "\n")
    end
  end
  self.handlers.exit(code, signal)
end

function Connection:is_closing()
  return self.closed or self.process:is_closing()
end

--- Ends the process the hard way. Its own children end with it: it reads the end of its stdin, or they see it gone.
function Connection:kill()
  if not self.closed then
    pcall(self.process.kill, self.process, "sigterm") -- it may have ended by itself
  end
end

return M
