-- The processes that agents left running, as a person meets them: a buffer that they open, that follows, and that takes nothing.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 110, lines = 30 })

local dev = {
  sessionId = "s",
  processId = "dev",
  agent = { name = "claude", via = "mcp" },
  pid = 1234,
  command = "npm run dev",
  cwd = ".",
  running = true,
  started = "2026-11-21T12:00:00.5Z",
}

--- What the sidecar answers to `process/list`.
---@param human pillion.Person
---@param ... table
local function listed(human, ...)
  human:lua("Listed = ...; Wire.replies['process/list'] = function() return { processes = Listed } end", { ... })
end

---@type integer of what was printed so far
local at

--- One `process/output`.
---@param human pillion.Person
---@param text string
---@param more? table
local function prints(human, text, more)
  local told = { sessionId = "s", processId = "dev", text = text, start = at, next = at + #text, running = true }
  told = vim.tbl_extend("force", told, more or {})
  at = told.next
  human:tell("process/output", told)
end

---@param human pillion.Person
---@param more? table
local function starts(human, more)
  at = 0
  listed(human, vim.tbl_extend("force", dev, more or {}))
  prints(human, "")
  human:eventually("require('pillion.processes').running()[1].command ~= nil")
end

--- Opens the list: it comes when the sidecar has answered.
---@param human pillion.Person
local function lists(human)
  human:type_into(":Pillion processes<CR>", "rm")
end

---@param human pillion.Person
local function shows(human)
  lists(human)
  human:sees("▸ dev  npm run dev · claude · running since")
  human:type("1<CR>")
  human:sees("1: Show its output")
  human:type("1<CR>")
  human:eventually("vim.api.nvim_buf_get_name(0):find('^pillion://process/')")
end

---@param human pillion.Person
---@return string[]
local function lines(human)
  return human:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
end

sit("it takes no window and no cursor; shown, it is watched to its end", function(human)
  human:type_into("ihello", "i")
  starts(human)
  prints(human, "ready on \27[32mport\27[0m 1\n")
  human:settled()
  check.same({ human:screen():find("port", 1, true), human:mode().mode }, { nil, "i" })
  human:type_into("<Esc>", "n")
  check.same(human:lua("return require('pillion.status').line()"), "Pillion · 1 process")
  shows(human)
  human:sees("ready on port 1")
  check.same(
    human:lua("return { vim.bo.modifiable, vim.bo.buftype, vim.bo.buflisted, vim.bo.modeline }"),
    { false, "nofile", false, false }
  )
  human:sees("claude · running since")
  human:sees("i type a line  gK stop  q close")
  prints(human, "and more\n")
  human:sees("and more")
  prints(human, "bye\n", { running = false, exitCode = 3 })
  human:sees("It ended with exit code 3.")
  human:sees("claude · exit code 3")
  check.same(human:lua("return require('pillion.status').line()"), "Pillion")
  human:type("q")
  human:eventually("vim.fn.winnr('$') == 1")
  human:type(":Pillion processes<CR>")
  human:sees("✗ dev  npm run dev · claude · exit code 3")
  human:type("1<CR>")
  human:sees("and more")
end)

sit("it follows its end while the cursor stands there, and leaves it alone elsewhere", function(human)
  starts(human)
  prints(human, ("line\n"):rep(100))
  shows(human)
  human:eventually("vim.fn.line('.') == 101")
  prints(human, "more\n")
  human:eventually("vim.fn.line('.') == 102")
  human:type("50G")
  prints(human, "even more\n")
  human:eventually("vim.fn.line('$') == 103")
  check.same(human:lua("return vim.fn.line('.')"), 50)
  human:type("G")
  human:type_into("V", "V")
  prints(human, "while selecting\n")
  human:eventually("vim.fn.line('$') == 104")
  check.same(human:lua("return vim.fn.line('.')"), 103)
  human:type_into("<Esc>", "n")
  human:type("G<C-w>k")
  human:eventually("vim.bo.buftype == ''")
  prints(human, "from another window\n")
  human:sees("from another window")
  check.same(human:lua("return { vim.bo.buftype, vim.fn.winnr() }"), { "", 1 })
end)

sit("it is drawn while the user is in the middle of something, and holds up nothing", function(human)
  starts(human)
  shows(human)
  human:type("<C-w>k")
  human:eventually("vim.bo.buftype == ''")
  human:type("q:")
  human:eventually("vim.fn.getcmdwintype() == ':'")
  prints(human, "during the command-line window\n")
  human:sees("during the command-line window")
  check.same(human:mode().blocking, false)
  human:type(":quit<CR>")
  human:eventually("vim.fn.getcmdwintype() == ''")
  human:type_into("ihello", "i")
  prints(human, "during insert\n")
  human:sees("during insert")
  human:type_into("<C-n>", "ic")
  prints(human, "during a completion\n", { running = false, exitCode = 0 })
  human:sees("It ended with exit code 0.")
  human:type_into("<Esc>", "n")
  human:type(":call setline(1, 'half")
  prints(human, "unseen\n")
  human:type("')<CR>")
  human:eventually("vim.api.nvim_get_current_line() == 'half'")
end)

sit("what was not sent is marked where it is missing", function(human)
  starts(human)
  prints(human, "one\n")
  at = at + 1000
  prints(human, "two\n")
  shows(human)
  human:sees("two")
  check.same(lines(human), { "one", "… 1000 bytes of output dropped here …", "two", "" })
  prints(human, "two\n", { start = 0, next = 4 })
  prints(human, "three\n", { start = 1008, next = 1014 })
  human:sees("three")
  check.same(lines(human)[4], "three")
end)

sit("one that floods is cut, and the editor takes keys", function(human)
  starts(human)
  shows(human)
  human:lua([[
    local text, at = (("y"):rep(99) .. "\n"):rep(600), 0
    for _ = 1, 100 do
      Wire.tell("process/output", { sessionId = "s", processId = "dev", text = text, start = at, next = at + #text, running = true })
      at = at + #text
    end
  ]])
  at = 6000000
  prints(human, "the end\n")
  human:type(":echo 'keys are taken'<CR>")
  human:sees("keys are taken")
  human:sees("the end")
  check.same(human:lua("return vim.fn.search('bytes of output dropped here', 'nw') > 0"), true)
end)

sit("of many lines the last are kept, and it says so", function(human)
  starts(human)
  shows(human)
  prints(human, ("y\n"):rep(12000))
  human:sees("2001 earlier lines dropped")
  check.same(human:lua("return vim.fn.line('$')"), 10000)
end)

sit("what it prints cannot act, whatever the user does with the buffer", function(human)
  starts(human, { command = "x\u{202e}y%{1+1}" })
  prints(human, "vim: set ft=lua :\n<CR>here\n")
  human:type(":Pillion processes<CR>")
  human:sees("dev  x\\u{202e}y%{1+1}")
  human:type("1<CR>")
  human:sees("Show its output")
  human:type("1<CR>")
  human:sees("vim: set ft=lua :")
  human:sees("x\\u{202e}y%{1+1}")
  check.same(lines(human), { "vim: set ft=lua :", "<CR>here", "" })
  human:type(":edit!<CR>")
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, -1, false)[2] == '<CR>here'")
  check.same(human:lua("return { vim.bo.filetype, vim.bo.modifiable, vim.bo.buftype }"), { "", false, "nofile" })
  prints(human, "on it goes\n")
  human:sees("on it goes")
  human:type(":bwipeout!<CR>")
  human:eventually("vim.bo.buftype == ''")
  prints(human, "unseen\n")
  human:lua("require('pillion.processes').running()[1]:show() return true")
  human:sees("unseen")
  check.same(lines(human), { "vim: set ft=lua :", "<CR>here", "on it goes", "unseen", "" })
end)

---@param human pillion.Person
---@param method string
---@return table[]
local function sent(human, method)
  local found = {}
  for _, one in ipairs(human:lua("return Wire.sent")) do
    if one.method == method then
      found[#found + 1] = one.params
    end
  end
  return found
end

---@param times integer so often in all
local function is_sent(human, method, times)
  person.eventually("it was sent", function()
    return #sent(human, method) == times
  end)
end

sit("a line is typed to it", function(human)
  starts(human)
  shows(human)
  human:lua("Wire.replies['process/write'] = function() return { bytesWritten = 4 } end")
  human:type("i")
  human:sees("To dev:")
  human:type("yes<CR>")
  human:sees("> yes")
  check.same(sent(human, "process/write"), { { sessionId = "s", processId = "dev", input = "yes\n" } })
  human:type(":quit<CR>:Pillion write<CR>")
  human:sees("To dev:")
  human:type("<Esc>")
  human:type(":Pillion write dev<CR>no<CR>")
  is_sent(human, "process/write", 2)
  check.same(sent(human, "process/write")[2].input, "no\n")
end)

sit("it is stopped: by its name, by a key, from the list", function(human)
  starts(human)
  human:lua("Wire.replies['process/kill'] = function() return { running = true } end")
  check.same(human:lua("return vim.fn.getcompletion('Pillion kill ', 'cmdline')"), { "dev" })
  human:type(":Pillion kill nonsense<CR>")
  human:sees("there is no running process nonsense")
  human:type(":Pillion kill dev<CR>")
  human:sees("dev is still running")
  shows(human)
  human:type("gK")
  is_sent(human, "process/kill", 2)
  lists(human)
  human:sees("1: ▸ dev")
  human:type("1<CR>")
  human:sees("3: Stop it")
  human:type("3<CR>")
  is_sent(human, "process/kill", 3)
  check.same(sent(human, "process/kill")[3], { sessionId = "s", processId = "dev" })
  prints(human, "", { running = false, exitCode = 143 })
  human:type(":Pillion kill<CR>")
  human:sees("no process of an agent is running")
end)

sit("of several the user chooses; each is its own, even by the same name", function(human)
  starts(human)
  prints(human, "first\n")
  listed(human, dev, vim.tbl_extend("force", dev, { sessionId = "t", agent = { name = "codex", via = "mcp" }, pid = 9 }))
  human:tell("process/output", { sessionId = "t", processId = "dev", text = "second\n", start = 0, next = 7, running = true })
  human:eventually("require('pillion.processes').running()[2].agent ~= nil")
  check.same(human:lua("return require('pillion.status').line()"), "Pillion · 2 processes")
  human:type(":Pillion kill dev<CR>")
  human:sees("2: ▸ dev  npm run dev · codex")
  human:type("2<CR>")
  is_sent(human, "process/kill", 1)
  check.same(sent(human, "process/kill")[1].sessionId, "t")
end)

sit("that it has ended may be known before the last of what it printed comes", function(human)
  starts(human)
  human:lua("Wire.replies['process/kill'] = function() return { running = false, exitCode = 143 } end")
  human:type(":Pillion kill<CR>")
  human:sees("dev was stopped (exit code 143)")
  check.same(human:lua("return require('pillion.status').line()"), "Pillion")
  listed(human, vim.tbl_extend("force", dev, { running = false, exitCode = 143 }))
  prints(human, "its last words\n")
  lists(human)
  human:sees("1: ✗ dev  npm run dev · claude · exit code 143")
  check.same(human:screen():find("2: ", 1, true), nil)
  human:type("1<CR>")
  human:sees("its last words")
  prints(human, "", { running = false, exitCode = 143 })
  human:sees("It ended with exit code 143.")
end)

sit("a name that has ended is given anew: the old one can still be looked at", function(human)
  starts(human)
  prints(human, "old\n", { running = false, exitCode = 0 })
  starts(human, { pid = 99 })
  prints(human, "new\n")
  lists(human)
  human:sees("1: ▸ dev")
  human:sees("2: ✓ dev  npm run dev · claude · exit code 0")
  human:type("2<CR>")
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'old'")
  human:type(":quit<CR>")
  shows(human)
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'new'")
end)

sit("they end with the sidecar, and the list says when there are none", function(human)
  listed(human)
  human:type(":Pillion processes<CR>")
  human:sees("there are no processes of agents")
  starts(human)
  human:lua("Wire.client.state = 'failed'; for _, l in ipairs(Wire.state_listeners) do l(Wire.client) end")
  check.same(human:lua("return #require('pillion.processes').running()"), 0)
end)

sit("of those that have ended only the last are kept", function(human)
  human:lua("require('pillion.processes').kept = 2")
  listed(human)
  for index = 1, 5 do
    local told = { sessionId = "s", processId = "p" .. index, text = "", start = 0, next = 0, running = true }
    human:tell("process/output", told)
    human:tell("process/output", vim.tbl_extend("force", told, { running = false, exitCode = 0 }))
  end
  check.same(human:lua("return vim.tbl_map(function(one) return one.processId end, require('pillion.processes').all())"), { "p5", "p4" })
end)
