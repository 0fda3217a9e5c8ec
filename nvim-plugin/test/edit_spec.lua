-- The sidecar's edits of open buffers.

local check = require("check")
local test, same = check.test, check.same

local root = check.folder()
local world = require("fake").install(root)
local documents = require("pillion.documents")
local edit = require("pillion.edit")
documents.setup()

local api = vim.api
local number = 0

---@param bytes string
local function open(bytes)
  number = number + 1
  local path = check.write(vim.fs.joinpath(root, ("file%d.txt"):format(number)), bytes)
  vim.cmd.edit({ vim.fn.fnameescape(path), bang = true })
  return path
end

local function range(line, character, last_line, last_character)
  return { start = { line = line, character = character }, ["end"] = { line = last_line, character = last_character } }
end

--- What the sidecar asks, of the version that it knows.
---@param path string
---@param edits table[]
---@param save? boolean
local function ask(path, edits, save)
  local known = world.document(path)
  local request =
    { uri = vim.uri_from_fname(path), version = known and known.version or 1, edits = edits, save = save or false, label = "Edit" }
  local result = edit.edit(request, world.owner)
  if world.document(path) then
    same(world.document(path).text, (documents.text(vim.fn.bufnr(path))), "the sidecar has read it back")
    same({ result.version, result.dirty }, { world.document(path).version, world.document(path).state.dirty })
  end
  return result
end

test("it is applied, and saved when nothing was unsaved", function()
  local path = open("one\ntwo\nthree\n")
  same(ask(path, { { range = range(1, 0, 1, 3), newText = "2" } }, true), { applied = true, version = 2, dirty = false })
  same(check.read(path), "one\n2\nthree\n")
end)

test("what is unsaved stays unsaved", function()
  local path = open("one\ntwo\n")
  api.nvim_buf_set_lines(0, 0, 0, true, { "mine" })
  documents.flush(documents.all()[#documents.all()])
  local result = ask(path, { { range = range(2, 0, 2, 3), newText = "2" } }, true)
  same({ result.applied, result.dirty }, { true, true })
  same(check.read(path), "one\ntwo\n")
  same(documents.text(0), "mine\none\n2\n")
end)

test("another version is not touched", function()
  local path = open("one\n")
  local tick = vim.b.changedtick
  local request =
    { uri = vim.uri_from_fname(path), version = 7, edits = { { range = range(0, 0, 0, 0), newText = "x" } }, save = true, label = "" }
  local result = edit.edit(request, world.owner)
  same({ result.applied, result.version }, { false, 1 })
  check.match(result.reason, "version 1, not 7")
  same({ vim.b.changedtick, (documents.text(0)), check.read(path) }, { tick, "one\n", "one\n" })
end)

test("what was typed and not told yet is another version", function()
  local path = open("one\n")
  api.nvim_buf_set_lines(0, 0, 0, true, { "typed just now" })
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "2" } })
  same({ result.applied, (documents.text(0)) }, { false, "typed just now\none\n" })
end)

test("what is not open is refused", function()
  local path = open("one\n")
  vim.cmd("bunload!")
  same(ask(path, {}), { applied = false, version = 0, dirty = false, reason = "the document is not open" })
end)

test("read-only and not modifiable buffers are refused", function()
  local path = open("one\n")
  for _, option in ipairs({ "readonly", "nomodifiable" }) do
    vim.cmd("set " .. option)
    local result = ask(path, { { range = range(0, 0, 0, 3), newText = "2" } }, true)
    same({ result.applied, result.reason, (documents.text(0)) }, { false, "the buffer is read-only", "one\n" })
    vim.cmd("set noreadonly modifiable")
  end
end)

test("a hidden buffer is edited and saved where it is", function()
  vim.o.hidden = true
  local path = open("one\n")
  local elsewhere = open("else\n")
  same(ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true).dirty, false)
  same(check.read(path), "1\n")
  same(api.nvim_buf_get_name(0), elsewhere)
end)

local tails = {
  { "one\ntwo\n", range(2, 0, 2, 0), "three\n", "one\ntwo\nthree\n" },
  { "one\ntwo\n", range(2, 0, 2, 0), "three", "one\ntwo\nthree" },
  { "one\ntwo", range(1, 3, 1, 3), "\n", "one\ntwo\n" },
  { "one\ntwo", range(1, 3, 1, 3), "\nthree", "one\ntwo\nthree" },
  { "one\ntwo\n", range(1, 3, 2, 0), "", "one\ntwo" },
  { "one\ntwo\n", range(1, 0, 2, 0), "", "one\n" },
  { "one\ntwo\n", range(0, 3, 2, 0), "", "one" },
  { "one\ntwo\n", range(0, 0, 2, 0), "", "" },
  { "one\ntwo\n", range(0, 0, 2, 0), "new\n", "new\n" },
  { "", range(0, 0, 0, 0), "one\n", "one\n" },
  { "", range(0, 0, 0, 0), "one", "one" },
  { "\n", range(0, 0, 0, 0), "one", "one\n" },
  { "\n", range(0, 0, 1, 0), "", "" },
  { "one\r\ntwo\r\n", range(2, 0, 2, 0), "three\r\n", "one\r\ntwo\r\nthree\r\n" },
  { "one\r\ntwo\r\n", range(0, 3, 1, 0), "\r\nmore\r\n", "one\r\nmore\r\ntwo\r\n" },
  { "one\r\ntwo\nthree\n", range(0, 3, 0, 3), "!", "one!\r\ntwo\nthree\n" },
  { "one\r\ntwo\nthree\n", range(1, 0, 2, 0), "2\r\n", "one\r\n2\r\nthree\n" },
  { "one\rtwo\nthree\n", range(1, 0, 1, 3), "2", "one\r2\nthree\n" },
  { "a🐎b naïve\n", range(0, 3, 0, 4), "B", "a🐎B naïve\n" },
  { "a🐎b naïve\n", range(0, 8, 0, 10), "", "a🐎b naï\n" },
  { "a\0b\n", range(0, 2, 0, 3), "c", "a\0c\n" },
}

for i, case in ipairs(tails) do
  test(("at the edges, %d: %s"):format(i, vim.json.encode(case[4])), function()
    vim.o.fixendofline = false
    local path = open(case[1])
    same(ask(path, { { range = case[2], newText = case[3] } }, true), { applied = true, version = 2, dirty = false })
    same(documents.text(0), case[4])
    same(check.read(path), case[4])
    vim.o.fixendofline = true
  end)
end

test("edits at random, each list against the text itself", function()
  math.randomseed(7)
  local pieces = { "a", "ö", "🐎", "\n", "\n", "\n", "two words", "" }
  local function some(n)
    local out = {}
    for i = 1, math.random(0, n) do
      out[i] = pieces[math.random(#pieces)]
    end
    return table.concat(out)
  end
  local position = require("pillion.position")
  vim.o.fixendofline = false
  for _ = 1, 300 do
    local text = some(20)
    local path = open(text)
    local starts, at, edits, want = position.line_starts(text), 0, {}, ""
    local spots = {} -- every place between characters, as LSP names it
    for line, start in ipairs(starts) do
      local units, offset = 0, start
      local stop = starts[line + 1] and starts[line + 1] - 1 or #text
      spots[#spots + 1] = { offset = offset, line = line - 1, character = units }
      for character in text:sub(start + 1, stop):gmatch("[%z\1-\127\194-\244][\128-\191]*") do
        offset, units = offset + #character, units + (#character == 4 and 2 or 1)
        spots[#spots + 1] = { offset = offset, line = line - 1, character = units }
      end
    end
    local i = 1
    while i <= #spots and #edits < 4 do
      local first = math.random(i, #spots)
      local last = math.random(first, math.min(#spots, first + 4))
      local new = some(3)
      edits[#edits + 1] =
        { range = range(spots[first].line, spots[first].character, spots[last].line, spots[last].character), newText = new }
      want = want .. text:sub(at + 1, spots[first].offset) .. new
      at = spots[last].offset
      i = last + 1
    end
    want = want .. text:sub(at + 1)
    local result = ask(path, edits, true)
    same({ result.applied, result.reason }, { true, nil })
    same(documents.text(0), want, vim.inspect({ text, edits }))
    same(check.read(path), want)
    vim.cmd("bwipeout!")
  end
  vim.o.fixendofline = true
end)

test("what formats on save is part of it, and of its undo step", function()
  local path = open("one\n")
  api.nvim_create_autocmd("BufWritePre", {
    buffer = 0,
    callback = function()
      api.nvim_buf_set_lines(0, -1, -1, true, { "formatted" })
    end,
  })
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true)
  same({ result.applied, result.dirty, result.reason }, { true, false, nil })
  same(check.read(path), "1\nformatted\n")
  vim.cmd("silent undo")
  same(documents.text(0), "one\n")
end)

test("a save that fails is told", function()
  local path = open("one\n")
  local command = api.nvim_create_autocmd("BufWritePre", {
    buffer = 0,
    callback = function()
      error("the linter says no")
    end,
  })
  vim.fn.setfperm(root, "r-xr-xr-x")
  vim.o.write = false
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true)
  vim.o.write = true
  vim.fn.setfperm(root, "rwxr-xr-x")
  api.nvim_del_autocmd(command)
  same({ result.applied, result.dirty }, { true, true })
  check.match(result.reason, "^the edit was applied but could not be saved: E142")
  same(check.read(path), "one\n")
end)

test("a character that the file's encoding has not is refused: Neovim would write a question mark", function()
  local path = open("caf\233\n")
  same(vim.bo.fileencoding, "latin1")
  local result = ask(path, { { range = range(0, 0, 0, 0), newText = "🐎" } }, true)
  same({ result.applied, result.dirty }, { false, false })
  check.match(result.reason, "latin1")
  same({ (documents.text(0)), check.read(path) }, { "café\n", "caf\233\n" })
  same(ask(path, { { range = range(0, 0, 0, 0), newText = "ü" } }, true).dirty, false)
  same(check.read(path), "\252caf\233\n")
end)

test("a file that was changed on disk is read anew, not written over", function()
  local path = open("one\n")
  check.write(path, "one, by somebody else\n")
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true)
  same(result.applied, false)
  same(check.read(path), "one, by somebody else\n")
  same(documents.text(0), "one, by somebody else\n")
end)

test("with 'noautoread' neither buffer nor file is touched, and nothing is asked", function()
  vim.o.autoread = false
  local path = open("one\n")
  check.write(path, "one, by somebody else\n")
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true)
  vim.o.autoread = true
  same(result.applied, false)
  check.match(result.reason, "changed on disk")
  same({ check.read(path), (documents.text(0)) }, { "one, by somebody else\n", "one\n" })
end)

test("a file that was only touched is no reason to refuse", function()
  local path = open("one\n")
  vim.uv.fs_utime(path, os.time() + 100, os.time() + 100)
  same(ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true), { applied = true, version = 2, dirty = false })
  same(check.read(path), "1\n")
end)

test("a file that is gone is not written again", function()
  local path = open("one\n")
  vim.uv.fs_unlink(path)
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" } }, true)
  same(result.applied, false)
  check.match(result.reason, "changed on disk")
end)

--- Asks for two changes, of which the second cannot be made.
---@param path string
local function ask_for_half(path)
  local set_text, calls = api.nvim_buf_set_text, 0
  api.nvim_buf_set_text = function(...)
    calls = calls + 1
    if calls == 2 then
      error("E565: Not allowed to change text here")
    end
    return set_text(...)
  end
  local result = ask(path, { { range = range(0, 0, 0, 3), newText = "1" }, { range = range(2, 0, 2, 5), newText = "3" } }, true)
  api.nvim_buf_set_text = set_text
  same({ calls, result.applied }, { 2, false })
  check.match(result.reason, "E565")
  return result
end

test("an edit that cannot be made whole is not made at all", function()
  local path = open("one\ntwo\nthree\n")
  same(ask_for_half(path).dirty, false)
  same({ documents.text(0), check.read(path) }, { "one\ntwo\nthree\n", "one\ntwo\nthree\n" })
end)

test("what was made of it and cannot be undone is told", function()
  local path = open("one\ntwo\nthree\n")
  local buf_call = api.nvim_buf_call
  api.nvim_buf_call = function()
    error("E1: no undoing")
  end
  local result = ask_for_half(path)
  api.nvim_buf_call = buf_call
  check.match(result.reason, "a part of it is in the buffer and could not be undone: E1: no undoing")
  same({ result.dirty, documents.text(0), check.read(path) }, { true, "one\ntwo\n3\n", "one\ntwo\nthree\n" })
end)

test("cursors, marks and views stay on their text, in every window", function()
  local lines = {}
  for i = 1, 200 do
    lines[i] = "line " .. i
  end
  local path = open(table.concat(lines, "\n") .. "\n")
  vim.cmd("silent only | split")
  local one, two = unpack(api.nvim_tabpage_list_wins(0))
  api.nvim_win_call(one, function()
    vim.fn.winrestview({ topline = 100, lnum = 105, col = 3 })
  end)
  api.nvim_win_call(two, function()
    vim.fn.winrestview({ topline = 50, lnum = 52, col = 5 })
  end)
  api.nvim_buf_set_mark(0, "a", 120, 2, {})
  ask(
    path,
    { { range = range(0, 0, 0, 0), newText = "new 1\nnew 2\nnew 3\n" }, { range = range(104, 0, 104, 4), newText = "zeile" } },
    true
  )
  local function sees(window)
    return api.nvim_win_call(window, function()
      local view = vim.fn.winsaveview()
      return { vim.fn.getline(view.topline), vim.fn.getline(view.lnum) }
    end)
  end
  same(sees(one), { "line 100", "zeile 105" })
  same(sees(two), { "line 50", "line 52" })
  same(vim.fn.getline("'a"), "line 120")
  vim.cmd("only")
end)
