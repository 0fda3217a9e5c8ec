-- The sidecar's edits while the user is in the middle of something.

local check = require("check")
local test, same = check.test, check.same

--- A Neovim with a screen, a file in it, and a sidecar that is a table.
---@param bytes string
local function ride(bytes)
  local child = check.child(true)
  local path = check.write(check.folder() .. "/file.txt", bytes)
  child.lua(
    [[
    local path, tests = ...
    package.path = tests .. "/?.lua;" .. package.path
    World = require("fake").install(vim.fs.dirname(path))
    Documents, Edit = require("pillion.documents"), require("pillion.edit")
    Documents.setup()
    vim.cmd.edit(path)
    function Request(line, from, to, new, save)
      return {
        uri = vim.uri_from_fname(path), version = World.document(path).version, label = "Edit", save = save or false,
        edits = { { range = { start = { line = line, character = from }, ["end"] = { line = line, character = to } }, newText = new } },
      }
    end
    function Ask(...)
      for _, document in ipairs(Documents.all()) do Documents.flush(document) end
      return Edit.edit(Request(...), World.owner)
    end
    function Text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n") end
  ]],
    path,
    vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
  )
  local person = { child = child, path = path }
  function person.text()
    return child.lua("return Text()")
  end
  function person.sees(text)
    check.eventually("the text " .. vim.inspect(text), function()
      return person.text() == text
    end)
    same(person.text(), text)
  end
  function person.types(keys, text)
    child.keys(keys)
    person.sees(text)
  end
  function person.asks(...)
    return child.lua("return Ask(...)", ...)
  end
  function person.gets(...)
    same(person.asks(...).applied, true)
  end
  --- Waits until this code comes to that.
  function person.comes_to(what, code, want)
    check.eventually(what, function()
      return child.lua("return " .. code) == want
    end)
  end
  function person.enters(keys, mode)
    child.keys(keys)
    check.eventually("mode " .. mode, function()
      return child.mode().mode == mode
    end)
  end
  return person
end

---@param name string
---@param bytes string of the file
---@param try fun(human: table)
local function sit(name, bytes, try)
  test(name, function()
    local human = ride(bytes)
    local fine, problem = xpcall(try, debug.traceback, human)
    human.child.stop()
    if not fine then
      error(problem, 0)
    end
  end)
end

sit("insert mode, another line: three undo steps, each its own", "one\ntwo\nthree\n", function(human)
  human.types("Aabc", "oneabc\ntwo\nthree")
  human.gets(2, 0, 5, "AGENT")
  human.types("def", "oneabcdef\ntwo\nAGENT")
  same(human.child.mode().mode, "i")
  human.types("<Esc>u", "oneabc\ntwo\nAGENT")
  human.types("u", "oneabc\ntwo\nthree")
  human.types("u", "one\ntwo\nthree")
  human.types("<C-r><C-r><C-r>", "oneabcdef\ntwo\nAGENT")
end)

sit("insert mode, the very line: what is typed goes on where it was", "one\ntwo\nthree\n", function(human)
  human.types("Aabc", "oneabc\ntwo\nthree")
  human.gets(0, 0, 3, "longer")
  human.types("def", "longerabcdef\ntwo\nthree")
  human.types("<Esc>u", "longerabc\ntwo\nthree")
  human.types("u", "oneabc\ntwo\nthree")
end)

sit("insert mode, lines above: the cursor stays with its text", "one\ntwo\nthree\n", function(human)
  human.types("GAabc", "one\ntwo\nthreeabc")
  human.gets(0, 0, 0, "new\nnew\n")
  human.types("def", "new\nnew\none\ntwo\nthreeabcdef")
  human.types("<Esc>u", "new\nnew\none\ntwo\nthreeabc")
  human.types("u", "one\ntwo\nthreeabc")
end)

sit("insert mode with nothing typed: it is saved, and typing goes on", "one\ntwo\n", function(human)
  human.enters("A", "i")
  same(human.asks(1, 0, 3, "2", true), { applied = true, version = 2, dirty = false })
  same(check.read(human.path), "one\n2\n")
  human.types("!", "one!\n2")
end)

sit("one undo takes back the agent's edit alone, in normal mode", "one\ntwo\n", function(human)
  human.types("ggAmine<Esc>", "onemine\ntwo")
  human.gets(1, 0, 3, "2")
  human.types("u", "onemine\ntwo")
end)

sit("a selection stays", "one\ntwo\nthree\nfour\n", function(human)
  human.enters("2GlVj", "V")
  human.gets(0, 0, 0, "new\n")
  same(human.child.mode().mode, "V")
  human.types("d", "new\none\nfour")
end)

sit("half of a command line stays", "one\ntwo\n", function(human)
  human.child.keys(":s/one/1")
  human.comes_to("a command line", "vim.fn.getcmdline()", "s/one/1")
  human.gets(1, 0, 3, "2", true)
  human.types("/<CR>", "1\n2")
end)

sit("half of an operator is no obstacle", "one\ntwo\n", function(human)
  human.child.keys("d")
  check.eventually("an operator waits", function()
    return human.child.mode().mode == "no" or human.child.mode().blocking
  end)
  human.gets(1, 0, 3, "2")
  human.types("d", "2")
end)

sit("a completion menu", "one\nonward\ntwo\n", function(human)
  human.child.keys("Go<C-r>='on'<CR><C-n>")
  human.comes_to("the menu", "vim.fn.pumvisible()", 1)
  local before = human.text()
  local result = human.asks(2, 0, 3, "2")
  if result.applied then
    same(human.text(), (before:gsub("two", "2")))
  else
    same(human.text(), before)
    check.match(result.reason, "E565")
  end
end)

local hundred = ""
for i = 1, 100 do
  hundred = hundred .. "line " .. i .. "\n"
end

sit("two windows keep their places while the other one is typed in", hundred, function(human)
  human.child.keys(":split<CR>50Gzt<C-w>w90Gz-A!")
  human.comes_to("it is typed", "vim.fn.getline(90)", "line 90!")
  local tops =
    "return vim.tbl_map(function(w) return vim.fn.getbufline('%', vim.fn.getwininfo(w)[1].topline)[1] end, vim.api.nvim_list_wins())"
  local before = human.child.lua(tops)
  human.gets(0, 0, 0, "new\nnew\nnew\n")
  human.child.keys("?")
  human.comes_to("it is typed on", "vim.fn.getline(93)", "line 90!?")
  same(human.child.lua(tops), before)
end)

sit("while a substitution is previewed the text is what it is", "one\ntwo\none\n", function(human)
  human.child.lua("vim.o.inccommand = 'split'")
  human.child.keys(":%s/one/1111")
  human.comes_to("the preview", "vim.fn.getcmdline()", "%s/one/1111")
  same(human.asks(1, 0, 3, "2", true), { applied = true, version = 2, dirty = false })
  same(human.child.lua("return World.document(...).text", human.path), "one\n2\none\n")
  human.types("<Esc>", "one\n2\none")
  same(check.read(human.path), "one\n2\none\n")
end)

sit("in the command-line window the file is edited, or the reason is told", "one\ntwo\n", function(human)
  human.child.keys("q:")
  human.comes_to("the command-line window", "vim.fn.getcmdwintype()", ":")
  local result = human.asks(0, 0, 3, "1", true)
  local text = human.child.lua("return (Documents.text(Documents.all()[1].buffer))")
  same(text, result.applied and "1\ntwo\n" or "one\ntwo\n")
  assert(result.applied or result.reason ~= "", "a reason")
  human.child.keys(":quit<CR>")
  human.comes_to("Neovim goes on", "vim.fn.getcmdwintype()", "")
  same(check.read(human.path), result.applied and not result.dirty and "1\ntwo\n" or "one\ntwo\n")
end)

sit("in a terminal, the file beside it is edited and saved", "one\ntwo\n", function(human)
  human.enters(":split | terminal cat<CR>i", "t")
  local result = human.asks(0, 0, 3, "1", true)
  same(result, { applied = true, version = 2, dirty = false })
  same(human.child.mode().mode, "t")
  same(check.read(human.path), "1\ntwo\n")
end)

--- The same question over the wire: what it answers stands in `Answer` once it is answered.
---@param human table
local function asks_in_time(human, line, from, to, new)
  human.child.lua(
    [[
    if not InTime then
      InTime = true
      require("pillion.idle")
    end
    for _, document in ipairs(Documents.all()) do Documents.flush(document) end
    Answer, GiveUp = nil, nil
    Edit.edit_in_time(Request(...), function(result) Answer = result end, World.owner, function(callback) GiveUp = callback end)
  ]],
    line,
    from,
    to,
    new
  )
end

---@param human table
local function answer(human)
  return check.eventually("an answer", function()
    return human.child.lua("return Answer or false")
  end)
end

sit("a completion is through before the line that it is in changes", "foobar foobaz\nx = 1; foo\n", function(human)
  human.types("jA<C-x><C-n>", "foobar foobaz\nx = 1; foobar")
  asks_in_time(human, 1, 0, 1, "a_longer_name")
  human.types("<C-n>", "foobar foobaz\nx = 1; foobaz")
  same(human.child.lua("return Answer or false"), false)
  human.types("<C-y>!", "foobar foobaz\nx = 1; foobaz!")
  same(answer(human).applied, false) -- it was meant for a text that is gone
  asks_in_time(human, 1, 0, 1, "a_longer_name")
  same(answer(human).applied, true)
  human.sees("foobar foobaz\na_longer_name = 1; foobaz!")
end)

sit("what is inserted into a block comes into all of its lines", "one\ntwo\nthree\nfour\n", function(human)
  human.child.lua("require('pillion.idle'); InTime = true")
  human.types("j0<C-v>jIXY", "one\nXYtwo\nthree\nfour")
  asks_in_time(human, 0, 0, 3, "uno\ndos")
  human.types("Z<Esc>", "one\nXYZtwo\nXYZthree\nfour")
  same(answer(human).applied, false)
  asks_in_time(human, 0, 0, 3, "uno\ndos")
  human.sees("uno\ndos\nXYZtwo\nXYZthree\nfour")
end)

sit(
  "who stays in the middle of a completion: the edit is refused, and one that is given up is not made",
  "foobar foobaz\nx = 1; foo\n",
  function(human)
    human.child.lua("require('pillion.idle').patience_ms = 50")
    human.types("jA<C-x><C-n>", "foobar foobaz\nx = 1; foobar")
    asks_in_time(human, 0, 0, 6, "agent")
    check.match(answer(human).reason, "in the middle of a completion")
    human.child.lua("require('pillion.idle').patience_ms = 5000")
    asks_in_time(human, 0, 0, 6, "agent")
    human.child.lua("GiveUp()")
    human.types("<C-e>!", "foobar foobaz\nx = 1; foo!")
    asks_in_time(human, 0, 0, 6, "AGENT")
    human.sees("AGENT foobaz\nx = 1; foo!")
  end
)

sit("what somebody else changes while a substitution is previewed is told when it ends", "one\ntwo\none\n", function(human)
  human.child.lua("vim.o.inccommand = 'split'")
  human.child.keys(":%s/one/1111")
  human.comes_to("the preview", "vim.fn.getcmdline()", "%s/one/1111")
  human.child.lua("vim.api.nvim_buf_set_lines(0, 1, 2, true, { 'by a plugin' })")
  human.child.keys("<Esc>")
  check.eventually("the sidecar knows", function()
    return human.child.lua("return World.document(...).text", human.path) == "one\nby a plugin\none\n"
  end)
end)

sit("a command that changes nothing tells nothing", "one\ntwo\n", function(human)
  human.child.keys(":let g:done = 1<CR>")
  human.comes_to("it is done", "vim.g.done", 1)
  human.asks(1, 0, 3, "2")
  same(human.child.lua("return World.document(...).version", human.path), 2)
end)
