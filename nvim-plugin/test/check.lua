-- Plain assertions, and other Neovims to try things on.

local M = {}

--- Only so that nothing hangs.
local patience_ms = 90000
local poll_ms = 10

---@type { name: string, run: fun() }[]
local tests = {}

---@param name string
---@param run fun()
function M.test(name, run)
  tests[#tests + 1] = { name = name, run = run }
end

---@param got any
---@param want any
---@param what? string
function M.same(got, want, what)
  if not vim.deep_equal(got, want) then
    error(("%s\n  got  %s\n  want %s"):format(what or "not the same", vim.inspect(got), vim.inspect(want)), 2)
  end
end

---@param text string
---@param pattern string
function M.match(text, pattern)
  if not tostring(text):match(pattern) then
    error(("%s\n  does not match %s"):format(vim.inspect(text), pattern), 2)
  end
end

--- Polls until this holds. Not in the condition of `vim.wait`: that one counts whole milliseconds between events, and a
--- condition that asks another Neovim makes an event each time, so its time would never be up.
---@generic T
---@param what string
---@param holds fun(): T
---@return T
function M.eventually(what, holds)
  local deadline = vim.uv.hrtime() + patience_ms * 1e6
  repeat
    local found = holds()
    if found then
      return found
    end
    vim.wait(poll_ms)
  until vim.uv.hrtime() > deadline
  error("never: " .. what, 2)
end

--- A folder of its own, without symbolic links in its name.
---@return string
function M.folder()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  return vim.uv.fs_realpath(folder)
end

---@param path string
---@param bytes string
---@return string path
function M.write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
  return path
end

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("*a")
  file:close()
  return bytes
end

---@class check.Child
---@field lua fun(code: string, ...): any
---@field keys fun(keys: string) types; poll for what comes of it
---@field mode fun(): { mode: string, blocking: boolean } answered at any time
---@field stop fun()

--- Another Neovim that has the plugin in its runtime path, on this one's wire.
---@param ui? boolean with a screen
---@return check.Child
function M.child(ui)
  local command = { vim.v.progpath, "--embed", "-u", "NONE", "-i", "NONE", "-n" }
  if not ui then
    command[#command + 1] = "--headless"
  end
  local channel = vim.fn.jobstart(command, { rpc = true })
  local function lua(code, ...)
    return vim.rpcrequest(channel, "nvim_exec_lua", code, { ... })
  end
  if ui then
    vim.rpcrequest(channel, "nvim_ui_attach", 80, 24, vim.empty_dict())
  end
  lua("vim.opt.runtimepath:prepend(...)", vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h"))
  return {
    lua = lua,
    keys = function(keys)
      vim.rpcnotify(channel, "nvim_input", keys) -- they may end it
    end,
    mode = function()
      return vim.rpcrequest(channel, "nvim_get_mode")
    end,
    stop = function()
      vim.fn.jobstop(channel)
    end,
  }
end

--- Runs what was registered; the exit code.
---@param title string
---@return integer
function M.finish(title)
  local failed = 0
  for _, test in ipairs(tests) do
    local ok, problem = xpcall(test.run, debug.traceback)
    io.stdout:write(("%s - %s: %s\n"):format(ok and "ok" or "not ok", title:gsub("_spec.lua$", ""), test.name))
    if not ok then
      failed = failed + 1
      io.stdout:write("  " .. tostring(problem):gsub("\n", "\n  ") .. "\n")
    end
  end
  return failed == 0 and 0 or 1
end

return M
