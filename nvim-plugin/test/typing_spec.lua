-- The sidecar's edits while the human is in the middle of something.

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
    function Ask(line, from, to, new, save)
      for _, document in ipairs(Documents.all()) do Documents.flush(document) end
      return Edit.edit({
        uri = vim.uri_from_fname(path), version = World.document(path).version, label = "Edit", save = save or false,
        edits = { { range = { start = { line = line, character = from }, ["end"] = { line = line, character = to } }, newText = new } },
      }, World.owner)
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
  return person
end

test("insert mode, another line: three undo steps, each its own", function()
  local human = ride("one\ntwo\nthree\n")
  human.types("Aabc", "oneabc\ntwo\nthree")
  same(human.asks(2, 0, 5, "AGENT").applied, true)
  human.types("def", "oneabcdef\ntwo\nAGENT")
  same(human.child.mode().mode, "i")
  human.types("<Esc>u", "oneabc\ntwo\nAGENT")
  human.types("u", "oneabc\ntwo\nthree")
  human.types("u", "one\ntwo\nthree")
  human.types("<C-r><C-r><C-r>", "oneabcdef\ntwo\nAGENT")
  human.child.stop()
end)

test("insert mode, the very line: what is typed goes on where it was", function()
  local human = ride("one\ntwo\nthree\n")
  human.types("Aabc", "oneabc\ntwo\nthree")
  same(human.asks(0, 0, 3, "longer").applied, true)
  human.types("def", "longerabcdef\ntwo\nthree")
  human.types("<Esc>u", "longerabc\ntwo\nthree")
  human.types("u", "oneabc\ntwo\nthree")
  human.child.stop()
end)

test("insert mode, lines above: the cursor stays with its text", function()
  local human = ride("one\ntwo\nthree\n")
  human.types("GAabc", "one\ntwo\nthreeabc")
  same(human.asks(0, 0, 0, "new\nnew\n").applied, true)
  human.types("def", "new\nnew\none\ntwo\nthreeabcdef")
  human.types("<Esc>u", "new\nnew\none\ntwo\nthreeabc")
  human.types("u", "one\ntwo\nthreeabc")
  human.child.stop()
end)

test("insert mode with nothing typed: it is saved, and typing goes on", function()
  local human = ride("one\ntwo\n")
  human.child.keys("A")
  check.eventually("insert mode", function()
    return human.child.mode().mode == "i"
  end)
  same(human.asks(1, 0, 3, "2", true), { applied = true, version = 2, dirty = false })
  same(check.read(human.path), "one\n2\n")
  human.types("!", "one!\n2")
  human.child.stop()
end)

test("one undo takes back the agent's edit alone, in normal mode", function()
  local human = ride("one\ntwo\n")
  human.types("ggAmine<Esc>", "onemine\ntwo")
  same(human.asks(1, 0, 3, "2").applied, true)
  human.types("u", "onemine\ntwo")
  human.child.stop()
end)

test("a selection stays", function()
  local human = ride("one\ntwo\nthree\nfour\n")
  human.child.keys("2GlVj")
  check.eventually("lines are selected", function()
    return human.child.mode().mode == "V"
  end)
  same(human.asks(0, 0, 0, "new\n").applied, true)
  same(human.child.mode().mode, "V")
  human.types("d", "new\none\nfour")
  human.child.stop()
end)

test("half of a command line stays", function()
  local human = ride("one\ntwo\n")
  human.child.keys(":s/one/1")
  check.eventually("a command line", function()
    return human.child.lua("return vim.fn.getcmdline()") == "s/one/1"
  end)
  same(human.asks(1, 0, 3, "2", true).applied, true)
  human.types("/<CR>", "1\n2")
  human.child.stop()
end)

test("half of an operator is no obstacle", function()
  local human = ride("one\ntwo\n")
  human.child.keys("d")
  check.eventually("an operator waits", function()
    return human.child.mode().mode == "no" or human.child.mode().blocking
  end)
  same(human.asks(1, 0, 3, "2").applied, true)
  human.types("d", "2")
  human.child.stop()
end)

test("a completion menu", function()
  local human = ride("one\nonward\ntwo\n")
  human.child.keys("Go<C-r>='on'<CR><C-n>")
  check.eventually("the menu", function()
    return human.child.lua("return vim.fn.pumvisible()") == 1
  end)
  local before = human.text()
  local result = human.asks(2, 0, 3, "2")
  if result.applied then
    same(human.text(), (before:gsub("two", "2")))
  else
    same(human.text(), before)
    check.match(result.reason, "E565")
  end
  human.child.stop()
end)

test("two windows keep their places while the other one is typed in", function()
  local lines = {}
  for i = 1, 100 do
    lines[i] = "line " .. i
  end
  local human = ride(table.concat(lines, "\n") .. "\n")
  human.child.keys(":split<CR>50Gzt<C-w>w90Gz-A!")
  check.eventually("it is typed", function()
    return human.child.lua("return vim.fn.getline(90)") == "line 90!"
  end)
  local tops =
    "return vim.tbl_map(function(w) return vim.fn.getbufline('%', vim.fn.getwininfo(w)[1].topline)[1] end, vim.api.nvim_list_wins())"
  local before = human.child.lua(tops)
  same(human.asks(0, 0, 0, "new\nnew\nnew\n").applied, true)
  human.child.keys("?")
  check.eventually("it is typed on", function()
    return human.child.lua("return vim.fn.getline(93)") == "line 90!?"
  end)
  same(human.child.lua(tops), before)
  human.child.stop()
end)

test("while a substitution is previewed the text is what it is", function()
  local human = ride("one\ntwo\none\n")
  human.child.lua("vim.o.inccommand = 'split'")
  human.child.keys(":%s/one/1111")
  check.eventually("the preview", function()
    return human.child.lua("return vim.fn.getcmdline()") == "%s/one/1111"
  end)
  same(human.asks(1, 0, 3, "2", true), { applied = true, version = 2, dirty = false })
  same(human.child.lua("return World.document(...).text", human.path), "one\n2\none\n")
  human.types("<Esc>", "one\n2\none")
  same(check.read(human.path), "one\n2\none\n")
  human.child.stop()
end)

test("in the command-line window the file is edited, or the reason is told", function()
  local human = ride("one\ntwo\n")
  human.child.keys("q:")
  check.eventually("the command-line window", function()
    return human.child.lua("return vim.fn.getcmdwintype()") == ":"
  end)
  local result = human.child.lua([[
    local document = Documents.all()[1]
    return Edit.edit({
      uri = document.uri, version = 1, label = "Edit", save = true,
      edits = { { range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } }, newText = "1" } },
    }, World.owner)
  ]])
  local text = human.child.lua("return (Documents.text(Documents.all()[1].buffer))")
  same(text, result.applied and "1\ntwo\n" or "one\ntwo\n")
  assert(result.applied or result.reason ~= "", "a reason")
  human.child.keys(":quit<CR>")
  check.eventually("Neovim goes on", function()
    return human.child.lua("return vim.fn.getcmdwintype()") == ""
  end)
  same(check.read(human.path), result.applied and not result.dirty and "1\ntwo\n" or "one\ntwo\n")
  human.child.stop()
end)

test("in a terminal, the file beside it is edited and saved", function()
  local human = ride("one\ntwo\n")
  human.child.keys(":split | terminal cat<CR>i")
  check.eventually("terminal mode", function()
    return human.child.mode().mode == "t"
  end)
  local result = human.child.lua([[
    local document = Documents.all()[1]
    return Edit.edit({
      uri = document.uri, version = 1, label = "Edit", save = true,
      edits = { { range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } }, newText = "1" } },
    }, World.owner)
  ]])
  same(result, { applied = true, version = 2, dirty = false })
  same(human.child.mode().mode, "t")
  same(check.read(human.path), "1\ntwo\n")
  human.child.stop()
end)

--- The same question over the wire: what it answers stands in `Answer` once it is answered.
---@param human table
local function asks_in_time(human, line, from, to, new)
  human.child.lua(
    [[
    local line, from, to, new = ...
    if not InTime then
      InTime = true
      require("pillion.midway").setup()
    end
    for _, document in ipairs(Documents.all()) do Documents.flush(document) end
    local path = vim.api.nvim_buf_get_name(0)
    Answer, GiveUp = nil, nil
    Edit.edit_in_time({
      uri = vim.uri_from_fname(path), version = World.document(path).version, label = "Edit", save = false,
      edits = { { range = { start = { line = line, character = from }, ["end"] = { line = line, character = to } }, newText = new } },
    }, function(result) Answer = result end, World.owner, function(callback) GiveUp = callback end)
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

test("a completion is through before the line that it is in changes", function()
  local human = ride("foobar foobaz\nx = 1; foo\n")
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

test("what is inserted into a block comes into all of its lines", function()
  local human = ride("one\ntwo\nthree\nfour\n")
  human.child.lua("require('pillion.midway').setup(); InTime = true")
  human.types("j0<C-v>jIXY", "one\nXYtwo\nthree\nfour")
  asks_in_time(human, 0, 0, 3, "uno\ndos")
  human.types("Z<Esc>", "one\nXYZtwo\nXYZthree\nfour")
  same(answer(human).applied, false)
  asks_in_time(human, 0, 0, 3, "uno\ndos")
  human.sees("uno\ndos\nXYZtwo\nXYZthree\nfour")
end)

test("who stays in the middle of a completion: the edit is refused, and one that is given up is not made", function()
  local human = ride("foobar foobaz\nx = 1; foo\n")
  human.child.lua("require('pillion.midway').patience_ms = 50")
  human.types("jA<C-x><C-n>", "foobar foobaz\nx = 1; foobar")
  asks_in_time(human, 0, 0, 6, "agent")
  check.match(answer(human).reason, "in the middle of a completion")
  human.child.lua("require('pillion.midway').patience_ms = 5000")
  asks_in_time(human, 0, 0, 6, "agent")
  human.child.lua("GiveUp()")
  human.types("<C-e>!", "foobar foobaz\nx = 1; foo!")
  asks_in_time(human, 0, 0, 6, "AGENT")
  human.sees("AGENT foobaz\nx = 1; foo!")
end)

test("what somebody else changes while a substitution is previewed is told when it ends", function()
  local human = ride("one\ntwo\none\n")
  human.child.lua("vim.o.inccommand = 'split'")
  human.child.keys(":%s/one/1111")
  check.eventually("the preview", function()
    return human.child.lua("return vim.fn.getcmdline()") == "%s/one/1111"
  end)
  human.child.lua("vim.api.nvim_buf_set_lines(0, 1, 2, true, { 'by a plugin' })")
  human.child.keys("<Esc>")
  check.eventually("the sidecar knows", function()
    return human.child.lua("return World.document(...).text", human.path) == "one\nby a plugin\none\n"
  end)
  human.child.stop()
end)

test("a command that changes nothing tells nothing", function()
  local human = ride("one\ntwo\n")
  human.child.keys(":let g:done = 1<CR>")
  check.eventually("it is done", function()
    return human.child.lua("return vim.g.done") == 1
  end)
  human.asks(1, 0, 3, "2")
  same(human.child.lua("return World.document(...).version", human.path), 2)
  human.child.stop()
end)
