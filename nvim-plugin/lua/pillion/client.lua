-- The sidecars: one for each workspace, found, started by `vim.lsp`, started again after a crash (later each time, at most
-- `maximum_restarts` times in a row), stopped. Other modules register here what they answer:
--
--   client.on("approval/request", function(params, reply, client, cancelled)
--     -- A request is answered with `reply(result)` or `reply(nil, { code = …, message = … })`, at once or minutes later, and once:
--     -- what comes after that, or after the sidecar ended, does nothing. `cancelled(function() … end)` is told when the sidecar
--     -- gives the request up. For a notification `reply` is nil.
--   end)
--
-- In JSON an empty Lua table is a list; an empty object is `vim.empty_dict()`.

local announce = require("pillion.announce")
local config = require("pillion.config")
local locator = require("pillion.locator")
local rpc = require("pillion.rpc")

local M = {}

local maximum_restarts = 5
local first_delay_ms = 500
--- A sidecar that lived this long starts the count anew.
local healthy_ms = 180000
--- For a sidecar to end by itself when asked to.
local stop_ms = 3000
local log_lines = 1000
--- Of one message in the log.
local trace_bytes = 4000

---@alias pillion.State "starting"|"ready"|"stopped"|"failed"
---@alias pillion.Handler fun(params: any, reply?: fun(result: any, err?: table), client: pillion.Client, cancelled?: fun(callback: fun()))

---@class pillion.Client
---@field root string the workspace's folder
---@field state pillion.State
---@field problem? string why it failed, in a sentence
---@field missing boolean whether it failed because there is no program
---@field path? string the program that runs
---@field version? string of the program
---@field agents {id: string, name: string}[] that it can be connected to
---@field lsp? integer id of vim.lsp's client
---@field connection? pillion.rpc.Connection
---@field restarts integer in a row
---@field started_at integer ms
---@field timer? uv.uv_timer_t
---@field request fun(method: string, params: any, callback: fun(err?: table, result: any)): boolean
---@field notify fun(method: string, params: any): boolean

---@type table<string, pillion.Client> by root
local clients = {}
---@type table<string, pillion.Handler[]>
local handlers = {}
---@type (fun(client: pillion.Client))[]
local listeners = {}
---@type string[]
local log = {}

--- A request is answered by one handler; a notification may have several.
---@param method string
---@param handler pillion.Handler
function M.on(method, handler)
  handlers[method] = handlers[method] or {}
  table.insert(handlers[method], handler)
end

--- Calls back whenever a client's `state` changes. In any state but `ready` whatever it asked is gone.
---@param listener fun(client: pillion.Client)
function M.on_state(listener)
  listeners[#listeners + 1] = listener
end

---@param visit fun(client: pillion.Client)
function M.each(visit)
  for _, client in vim.spairs(clients) do
    visit(client)
  end
end

--- Those that can be asked.
---@return pillion.Client[]
function M.ready()
  local found = {}
  M.each(function(client)
    found[#found + 1] = client.state == "ready" and client or nil
  end)
  return found
end

--- Asks every sidecar that runs. Where none does the user is told, and nothing goes on.
---@param ask fun(client: pillion.Client, answered: fun(answer: any)) calls `answered` once
---@param done fun(answers: any[]) those that were none are left out
function M.ask_all(ask, done)
  local all, answers = M.ready(), {}
  local left = #all
  if left == 0 then
    announce.tell("Pillion is not running; start it with :Pillion restart", vim.log.levels.WARN)
  end
  for _, client in ipairs(all) do
    ask(client, function(answer)
      answers[#answers + 1] = answer
      left = left - 1
      if left == 0 then
        done(answers)
      end
    end)
  end
end

--- Called before a client asks for anything, to tell what is not told yet.
---@type fun(client: pillion.Client)
M.before_request = function() end

--- What sidecars wrote to stderr, and what happened to them.
function M.log()
  return log
end

---@param text string
local function record(text)
  for line in vim.gsplit(vim.trim(text), "\n", { plain = true }) do
    log[#log + 1] = line
  end
  while #log > log_lines do
    table.remove(log, 1)
  end
end

---@param client pillion.Client
---@param state pillion.State
---@param problem? string
local function become(client, state, problem)
  client.state, client.problem = state, problem
  for _, listener in ipairs(listeners) do
    local ok, trouble = xpcall(listener, debug.traceback, client)
    if not ok then
      record("telling of a change: " .. trouble)
    end
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "PillionState", modeline = false, data = { root = client.root, state = state } })
end

--- Whether path is folder or below it.
---@param path string
---@param folder string
function M.is_below(path, folder)
  return path == folder or vim.startswith(path, folder:sub(-1) == "/" and folder or folder .. "/")
end

--- The client whose workspace is nearest above a path.
---@param path string
function M.for_path(path)
  local best ---@type pillion.Client?
  for root, client in pairs(clients) do
    if M.is_below(path, root) and (not best or #root > #best.root) then
      best = client
    end
  end
  return best
end

--- The client of the current buffer's file, else of the current folder, else the only one.
---@return pillion.Client?
function M.current()
  local name = vim.api.nvim_buf_get_name(0)
  local file = vim.bo.buftype == "" and name ~= "" and vim.uv.fs_realpath(name) or nil
  local only = vim.tbl_count(clients) == 1 and select(2, next(clients)) or nil
  return file and M.for_path(file) or M.for_path(vim.uv.fs_realpath(vim.fn.getcwd()) or "") or only
end

---@param params any
local function object(params)
  return (params == nil or type(params) == "table" and next(params) == nil) and vim.empty_dict() or params
end

---@param root string
---@return pillion.Client
local function new(root)
  ---@type pillion.Client
  local client = { root = root, state = "stopped", missing = false, agents = {}, restarts = 0, started_at = 0 }
  function client.request(method, params, callback)
    if client.state ~= "ready" then
      callback({ code = rpc.codes.internal_error, message = "pillion is not running; restart it with :Pillion restart" })
      return false
    end
    M.before_request(client)
    return (client.connection:request(method, object(params), callback))
  end
  function client.notify(method, params)
    return client.state == "ready" and client.connection:notify(method, object(params))
  end
  clients[root] = client
  return client
end

---@param client pillion.Client
---@param problem string
local function fail(client, problem)
  become(client, "failed", problem)
  announce.say("Pillion: " .. problem, vim.log.levels.ERROR)
end

local launch ---@type fun(client: pillion.Client)

--- The sidecar ended, or never came up, without being asked to.
---@param client pillion.Client
---@param connection pillion.rpc.Connection
local function lost(client, connection)
  if client.connection ~= connection then
    return
  end
  client.connection, client.lsp = nil, nil
  client.restarts = vim.uv.now() - client.started_at > healthy_ms and 1 or client.restarts + 1
  if client.restarts > maximum_restarts then
    fail(client, ("the sidecar ended %d times in a row; :Pillion log says why"):format(client.restarts))
    return
  end
  local delay = first_delay_ms * 2 ^ (client.restarts - 1)
  record(("sidecar ended; restarting it in %d ms"):format(delay))
  announce.say("Pillion: the sidecar ended; restarting it", vim.log.levels.WARN)
  client.timer = vim.defer_fn(function()
    client.timer = nil
    launch(client)
  end, delay)
  become(client, "starting")
end

--- The setting `trace.server`: the names of messages, or all of each.
---@param direction string
---@param body string
local function trace(direction, body)
  local level = vim.tbl_get(config.current.settings, "trace", "server")
  if level == "verbose" then
    record(("%s: %s"):format(direction, body:sub(1, trace_bytes)))
  elseif level == "messages" then
    local ok, message = pcall(vim.json.decode, body)
    message = ok and type(message) == "table" and message or {}
    record(("%s: %s"):format(direction, message.method or "the answer to " .. tostring(message.id)))
  end
end

---@param client pillion.Client
---@param command string[]
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return pillion.rpc.Connection?, string?
local function connect(client, command, dispatchers)
  local connection, trouble ---@type pillion.rpc.Connection?, string?
  connection, trouble = rpc.start(command, { cwd = client.root }, {
    request = function(method, params, reply, cancelled)
      if handlers[method] then
        handlers[method][1](params or {}, reply, client, cancelled)
        return
      end
      coroutine.wrap(function() -- vim.lsp's own handlers may wait
        reply(dispatchers.server_request(method, params))
      end)()
    end,
    notification = function(method, params)
      if not handlers[method] then
        dispatchers.notification(method, params)
      end
      for _, handler in ipairs(handlers[method] or {}) do
        local ok, problem = xpcall(handler, debug.traceback, params or {}, nil, client)
        if not ok then
          record(method .. ": " .. problem)
        end
      end
    end,
    busy = {
      ["document/edit"] = function(params)
        local reason = "Neovim is waiting for a key; the user must press Enter there first"
        return { applied = false, version = params.version, dirty = not params.save, reason = reason }
      end,
    },
    stderr = record,
    trace = trace,
    exit = function(code, signal)
      record(("sidecar %s ended with code %d, signal %d"):format(client.root, code, signal))
      dispatchers.on_exit(0, 0) -- how it ended is told here
      lost(client, connection --[[@as pillion.rpc.Connection]])
    end,
  })
  return connection, trouble
end

--- What `vim.lsp` needs to see of a connection. It follows no document for us: see documents.lua.
---@param connection pillion.rpc.Connection
---@return vim.lsp.rpc.PublicClient
local function public(connection)
  return {
    request = function(method, params, callback, done)
      return connection:request(method, params, function(err, result)
        if method == "initialize" and err then
          record("initialize: " .. tostring(err.message))
          connection:kill()
          return
        end
        callback(err, result)
        if done then
          done(0)
        end
      end)
    end,
    notify = function(method, params)
      return vim.startswith(method, "textDocument/") or connection:notify(method, params)
    end,
    is_closing = function()
      return connection:is_closing()
    end,
    terminate = function()
      connection:kill()
    end,
  }
end

---@param client pillion.Client
---@return vim.lsp.ClientConfig
local function lsp_config(client)
  local connection ---@type pillion.rpc.Connection
  return {
    name = "pillion",
    cmd = function(dispatchers)
      local problem ---@type string?
      connection, problem = connect(client, { client.path, "serve" }, dispatchers)
      if not connection then
        record(("%s could not be started: %s"):format(client.path, problem))
        error(problem, 0)
      end
      client.connection = connection
      return public(connection)
    end,
    root_dir = client.root,
    workspace_folders = { { uri = vim.uri_from_fname(client.root), name = vim.fs.basename(client.root) } },
    capabilities = {
      general = { positionEncodings = { "utf-16" } },
      workspace = { workspaceFolders = true },
      window = { workDoneProgress = false },
      experimental = {
        pillion = { approval = true, approvalKinds = { "plan", "review" }, prompt = true, documents = true, languageFeatures = true },
      },
    },
    init_options = config.settings(),
    on_init = function(_, result)
      if client.connection == connection then
        client.version = vim.tbl_get(result, "serverInfo", "version")
        client.agents = vim.tbl_get(result, "capabilities", "experimental", "pillion", "agents") or {}
        -- An agent in a terminal finds the sidecar by the registry that its home folder leads to (docs/agents.md). Only the program itself
        -- must be found, when it lies in this plugin and not on PATH.
        if config.current.terminal_path and vim.fn.executable("pillion") == 0 then
          vim.env.PATH = locator.path_with(vim.env.PATH or "", vim.fs.dirname(client.path))
        end
        become(client, "ready")
      end
    end,
  }
end

---@param options vim.lsp.ClientConfig
---@return integer? id
local function lsp_start(options)
  if vim.fn.has("nvim-0.11") == 1 then
    return vim.lsp.start(options, {
      attach = false,
      silent = true, -- it is told here
      reuse_client = function()
        return false
      end,
    })
  end
  return (vim.lsp.start_client(options)) -- 0.10's vim.lsp.start attaches a buffer, whatever one wants
end

--- Fetches the program where the plugin can, and goes on with it.
---@param client pillion.Client
---@return boolean begun
local function obtain(client)
  local begun = require("pillion.obtain").begin(function(problem)
    if problem then
      fail(client, problem)
    elseif client.state == "failed" then
      announce.say("Pillion: the program is here")
      launch(client)
    end
  end)
  if begun then
    announce.say("Pillion: fetching the program")
  end
  return begun
end

launch = function(client)
  become(client, "starting")
  local located = locator.locate(config.current.path)
  client.missing = located.problem ~= nil
  if located.problem then
    become(client, "failed", located.problem)
    if config.current.path ~= "" or not obtain(client) then
      announce.say("Pillion: " .. located.problem, vim.log.levels.WARN)
    end
    return
  end
  client.path, client.started_at = located.path, vim.uv.now()
  record(("sidecar: %s (%s) for %s"):format(located.path, located.from, client.root))
  client.lsp = lsp_start(lsp_config(client))
  if not client.connection then
    fail(client, ("%s could not be started; :Pillion log says why"):format(located.path))
  end
end

--- Starts the sidecar of a workspace, unless it runs.
---@param root string
function M.start(root)
  local client = clients[root] or new(root)
  if client.state == "stopped" or client.state == "failed" then
    client.restarts = 0
    launch(client)
  end
  return client
end

---@param client pillion.Client
---@return pillion.rpc.Connection? connection that is about to end
local function ask_to_end(client)
  if client.timer then
    client.timer:stop()
    client.timer = nil
  end
  local connection = client.connection
  client.connection, client.lsp = nil, nil
  if client.state ~= "stopped" then
    become(client, "stopped")
  end
  if connection and not connection:request("shutdown", nil, function()
    connection:notify("exit", nil)
  end) then
    connection:kill()
  end
  return connection
end

--- Stops a sidecar, or all of them, and waits until they are gone.
---@param client? pillion.Client
function M.stop(client)
  local leaving = {} ---@type pillion.rpc.Connection[]
  M.each(function(one)
    if one == (client or one) then
      leaving[#leaving + 1] = ask_to_end(one)
    end
  end)
  local function all_gone()
    return vim.iter(leaving):all(function(connection)
      return connection.closed
    end)
  end
  if not vim.wait(stop_ms, all_gone, 5) then
    for _, connection in ipairs(leaving) do
      connection:kill()
    end
    vim.wait(stop_ms, all_gone, 5)
  end
end

--- Stops and starts, with a clean count of failures: the user asked.
---@param client? pillion.Client
function M.restart(client)
  M.stop(client)
  M.each(function(one)
    if one == (client or one) then
      M.start(one.root)
    end
  end)
end

--- Tells running sidecars that the settings changed.
function M.settings_changed()
  M.each(function(client)
    client.notify("workspace/didChangeConfiguration", { settings = { pillion = config.settings() } })
  end)
end

return M
