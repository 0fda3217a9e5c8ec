-- The wire, against a program that is a shell script or a Lua file.

local check = require("check")
local rpc = require("pillion.rpc")
local test, same = check.test, check.same

--- A program that speaks the wire as this Lua says; `say(table)` and `hear()` are there.
---@param code string
---@return string[]
local function program(code)
  local path = check.folder() .. "/program.lua"
  check.write(path, [[
    local function say(message)
      local body = vim.json.encode(message)
      io.stdout:write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
      io.stdout:flush()
    end
    local function raw()
      local length
      for line in io.stdin:lines() do
        line = line:gsub("\r$", "")
        if line == "" then break end
        length = line:match("^Content%-Length: (%d+)") or length
      end
      return length and io.stdin:read(tonumber(length))
    end
    local function hear()
      local body = raw()
      return body and vim.json.decode(body)
    end
  ]] .. code)
  return { vim.v.progpath, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-l", path }
end

local function start(code, handlers)
  local seen = { stderr = "", exit = nil, notifications = {} }
  local connection = assert(rpc.start(
    program(code),
    {},
    vim.tbl_extend("force", {
      request = function(_, _, reply)
        reply({})
      end,
      notification = function(method, params)
        table.insert(seen.notifications, { method, params })
      end,
      stderr = function(text)
        seen.stderr = seen.stderr .. text
      end,
      exit = function(code_, signal)
        seen.exit = { code_, signal }
      end,
    }, handlers or {})
  ))
  return connection, seen
end

test("messages come whole, however they are cut", function()
  local bodies = {}
  local text = ""
  for i = 1, 20 do
    bodies[i] = ("é"):rep(i * 3)
    text = text .. ("Content-Length: %d\r\n\r\n%s"):format(#bodies[i], bodies[i])
  end
  for size = 1, 40 do
    local got = {}
    local read = rpc.reader(function(body)
      got[#got + 1] = body
    end)
    for at = 1, #text, size do
      read(text:sub(at, at + size - 1))
    end
    same(got, bodies)
  end
end)

test("requests, answers and notifications", function()
  local connection, seen = start([[
    local asked = hear()
    say({ jsonrpc = "2.0", method = "hello", params = { n = 1 } })
    say({ jsonrpc = "2.0", id = asked.id, result = { method = asked.method, params = asked.params } })
    hear()
  ]])
  local got
  connection:request("tools/list", { format = "mcp" }, function(err, result)
    got = { err, result }
  end)
  check.eventually("the answer", function()
    return got
  end)
  same(got, { nil, { method = "tools/list", params = { format = "mcp" } } })
  same(seen.notifications, { { "hello", { n = 1 } } })
  connection:kill()
end)

test("a request is answered later, and once", function()
  local answer
  local connection, seen = start(
    [[
    say({ jsonrpc = "2.0", id = "a", method = "approval/request", params = vim.empty_dict() })
    local first = hear()
    say({ jsonrpc = "2.0", method = "heard", params = first })
    local second = hear()
    say({ jsonrpc = "2.0", method = "heard", params = second })
    hear()
  ]],
    {
      request = function(_, _, reply)
        answer = reply
      end,
    }
  )
  check.eventually("the request", function()
    return answer
  end)
  answer({ decision = "approve" })
  answer({ decision = "reject" })
  connection:notify("after", { all = true })
  check.eventually("both", function()
    return #seen.notifications == 2
  end)
  same(seen.notifications[1][2].result, { decision = "approve" })
  same(seen.notifications[2][2].method, "after")
  connection:kill()
end)

test("a slash is a slash, and a backslash before one too", function()
  local connection, seen = start([[
    say({ jsonrpc = "2.0", method = "heard", params = { raw() } })
    hear()
  ]])
  connection:notify("x", { text = "./run \\/ \\\\/" })
  check.eventually("it is heard", function()
    return #seen.notifications == 1
  end)
  local heard = seen.notifications[1][2][1]
  check.match(heard, "%./run")
  same(vim.json.decode(heard).params.text, "./run \\/ \\\\/")
  connection:kill()
end)

test("a handler that fails answers with an error", function()
  local connection, seen = start(
    [[
    say({ jsonrpc = "2.0", id = 1, method = "x", params = vim.empty_dict() })
    say({ jsonrpc = "2.0", method = "heard", params = hear() })
    hear()
  ]],
    {
      request = function()
        error("it is broken")
      end,
    }
  )
  check.eventually("the answer", function()
    return #seen.notifications == 1
  end)
  same(seen.notifications[1][2].error.code, -32603)
  check.match(seen.notifications[1][2].error.message, "it is broken")
  connection:kill()
end)

test("a withdrawn request is told of, and answers after it go nowhere", function()
  local events = {}
  local connection, seen = start(
    [[
    say({ jsonrpc = "2.0", id = 7, method = "prompt/user", params = vim.empty_dict() })
    hear()
    say({ jsonrpc = "2.0", method = "$/cancelRequest", params = { id = 7 } })
    hear()
  ]],
    {
      request = function(_, _, _, cancelled)
        events.begun = true
        cancelled(function()
          events[#events + 1] = "withdrawn"
        end)
      end,
    }
  )
  check.eventually("it is begun", function()
    return events.begun
  end)
  connection:notify("go", {})
  check.eventually("it is withdrawn", function()
    return events[1]
  end)
  same(seen.stderr, "")
  connection:kill()
end)

test("an ended process ends what waits for it", function()
  local connection, seen = start([[ hear() io.stderr:write("no more") os.exit(3) ]])
  local got
  connection:request("tools/list", {}, function(err)
    got = err
  end)
  check.eventually("the end", function()
    return got and seen.exit
  end)
  same({ got.code, seen.exit[1] }, { -32800, 3 })
  check.match(seen.stderr, "no more")
  same(connection:notify("late", {}), false)
end)

test("a program that is not there is a problem, not an error", function()
  local connection, problem = rpc.start({ "/nowhere/pillion", "serve" }, {}, {})
  same(connection, nil)
  check.match(problem, "ENOENT")
end)

--- What is answered while a Neovim waits for a key; nothing may be begun, not even when it goes on.
---@param busy string Lua: what is said at once to a request that it cannot come to
---@param sends string Lua of the program: the request, and what comes with it
---@return table
local function answer_while_it_waits(busy, sends)
  local child, early = check.child(true), check.folder() .. "/early.json"
  child.lua(
    ([[
    local command, early = ...
    local rpc = require("pillion.rpc")
    rpc.busy_ms = 20
    Begun = {}
    Connection = rpc.start(command, { env = { PILLION_TEST_EARLY = early } }, {
      busy = { %s },
      request = function(method, _, reply) Begun[#Begun + 1] = method reply({}) end,
      notification = function() end, stderr = function() end, exit = function() end,
    })
  ]]):format(busy),
    program(([[
    hear()
    %s
    local early = os.getenv("PILLION_TEST_EARLY")
    vim.fn.writefile({ vim.json.encode(hear()) }, early .. ".new")
    vim.uv.fs_rename(early .. ".new", early) -- it is read as soon as it is there
    hear()
  ]]):format(sends)),
    early
  )
  child.keys(":echo 1 | echo 2 | lua Connection:notify('go', {})<CR>")
  local answer = check.eventually("an answer while Neovim waits", function()
    return child.mode().blocking and vim.fn.filereadable(early) == 1 and vim.json.decode(check.read(early))
  end)
  child.keys("<CR>")
  check.eventually("Neovim goes on", function()
    return not child.mode().blocking
  end)
  same(child.lua("return Begun"), {})
  child.stop()
  return answer
end

test("while Neovim waits for a key a request that is withdrawn is never begun", function()
  local answer = answer_while_it_waits(
    "",
    [[
    say({ jsonrpc = "2.0", id = 1, method = "document/edit", params = vim.empty_dict() })
    say({ jsonrpc = "2.0", method = "$/cancelRequest", params = { id = 1 } })
  ]]
  )
  same(answer.error.code, -32800)
end)

test("an edit that Neovim cannot come to is refused in time", function()
  local answer = answer_while_it_waits(
    [=[ ["document/edit"] = function(params) return { applied = false, version = params.version } end ]=],
    [[say({ jsonrpc = "2.0", id = 1, method = "document/edit", params = { version = 5 } })]]
  )
  same(answer.result, { applied = false, version = 5 })
end)

test("the program is not told where this Neovim listens", function()
  vim.env.NVIM_LISTEN_ADDRESS = "/tmp/nowhere"
  vim.env.PILLION_TEST_KEPT = "kept"
  local got = ""
  local connection = assert(rpc.start({ "sh", "-c", "env >&2" }, { env = { PILLION_TEST_MORE = "more" } }, {
    stderr = function(text)
      got = got .. text
    end,
    exit = function() end,
  }))
  check.eventually("its environment", function()
    return connection:is_closing()
  end)
  check.eventually("all of it", function()
    return got:match("PILLION_TEST_KEPT=kept") and got:match("PILLION_TEST_MORE=more") and got:match("\nPATH=")
  end)
  same({ ("\n" .. got):match("\nNVIM=([^\n]*)"), ("\n" .. got):match("\nNVIM_LISTEN_ADDRESS=([^\n]*)") }, { "", "" })
  vim.env.NVIM_LISTEN_ADDRESS = nil
end)
