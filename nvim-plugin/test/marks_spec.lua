-- Lines that an agent changed are marked beside the text, and the marks move with it until the user saves, accepts or reverts.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 90, lines = 16, init = "vim.o.signcolumn = 'yes'; require('pillion.marks').setup()" })

--- What was told is not only heard, but done.
---@param human pillion.Person
local function heeded(human)
  human:lua("Through = false; vim.schedule(function() Through = true end)")
  human:eventually("Through")
end

---@param human pillion.Person
---@param path string
---@param lines table[]
---@param more? table
local function changed(human, path, lines, more)
  local entry = {
    id = "1",
    callId = "c1",
    sessionId = "s",
    agent = { name = "claude", via = "mcp" },
    tool = "edit_file",
    title = "Edit it",
    turn = 1,
    time = os.date("!%Y-%m-%dT%H:%M:%SZ"),
    state = "done",
  }
  local file = { path = vim.fs.basename(path), uri = vim.uri_from_fname(path), operation = "overwrite", lines = lines, merged = false }
  human:tell("journal/changed", { entry = vim.tbl_extend("force", entry, more or {}), files = { file } })
  heeded(human)
end

--- An agent has moved a file or a folder, or deleted it.
---@param human pillion.Person
---@param path string
---@param to? string
local function moved(human, path, to)
  local file = { path = "x", uri = vim.uri_from_fname(path), operation = to and "move" or "delete", lines = {} }
  if to then
    file.to, file.toUri = "y", vim.uri_from_fname(to)
  end
  human:tell("journal/changed", {
    entry = { id = "1", callId = "c", sessionId = "s", agent = { name = "claude" }, state = "done", title = "Move it", time = "" },
    files = { file },
  })
  heeded(human)
end

--- The signs as they are on the screen, from the window's first line.
---@param human pillion.Person
local function signs(human)
  return human:lua([[vim.cmd.redraw(); local found = {}
    for line = 1, vim.fn.line("$") do
      local place = vim.fn.screenpos(0, line, 1)
      found[line] = ({ ["▌"] = "#", ["▁"] = "_" })[vim.fn.screenstring(place.row, 1)] or "."
    end
    return table.concat(found)]])
end

---@param human pillion.Person
---@param wanted string
local function shows(human, wanted)
  local got
  local fine = pcall(person.eventually, wanted, function()
    got = signs(human)
    return got == wanted
  end)
  if not fine then
    check.same(got, wanted, "signs")
  end
end

---@param human pillion.Person
---@return string path
local function opens(human, text)
  local path = check.write(vim.fs.joinpath(check.folder(), "app.py"), text or "one\ntwo\nthree\nfour\nfive\n")
  human:type(":edit " .. path .. "<CR>")
  human:sees("five")
  return path
end

sit("added, changed and removed lines; they move with what is typed, and go with their line", function(human)
  local path = opens(human)
  changed(
    human,
    path,
    { { start = 1, ["end"] = 2, removed = 1 }, { start = 3, ["end"] = 4, removed = 0 }, { start = 5, ["end"] = 5, removed = 2 } }
  )
  shows(human, ".#.#_")
  check.same(
    human:lua([[return vim.tbl_map(function(mark) return mark[4].sign_hl_group end,
      vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("pillion.marks"), 0, -1, { details = true }))]]),
    { "PillionSignChanged", "PillionSignAdded", "PillionSignRemoved" }
  )
  human:type("ggOmine<Esc>")
  shows(human, "..#.#_")
  human:type("3Gdd")
  shows(human, "...#_")
  human:type("u")
  shows(human, "..#.#_")
end)

sit("who changed a line is told, and nobody where nobody did", function(human)
  local path = opens(human)
  changed(human, path, { { start = 1, ["end"] = 2, removed = 0 } })
  shows(human, ".#...")
  human:type("2G:Pillion who<CR>")
  human:sees("claude wrote this line at")
  human:sees("Edit it")
  human:type("1G:Pillion who<CR>")
  human:sees("this line has no mark")
end)

sit("]p and [p go from mark to mark, while there are some, and leave a mapping of the buffer's alone", function(human)
  local path = opens(human)
  local function goes(keys, line)
    human:type(keys)
    human:eventually("vim.fn.line('.') == " .. line)
  end
  human:type("gg")
  changed(human, path, { { start = 1, ["end"] = 3, removed = 1 }, { start = 4, ["end"] = 5, removed = 0 } })
  goes("]p", 2)
  goes("]p", 5)
  goes("]p", 2)
  goes("[p", 5)
  goes("[p", 2)
  human:type(":Pillion accept<CR>")
  human:sees("accepted in this file")
  check.same(human:lua("return { vim.fn.maparg(']p', 'n'), vim.fn.maparg('[p', 'n') }"), { "", "" })
  human:lua("vim.keymap.set('n', ']p', 'G', { buffer = true })")
  changed(human, path, { { start = 1, ["end"] = 2 } })
  shows(human, ".#...")
  check.same(human:lua("return vim.fn.maparg(']p', 'n')"), "G")
  goes("[p", 2)
  human:type(":Pillion accept<CR>")
  human:sees("accepted in this file")
  check.same(human:lua("return vim.fn.maparg(']p', 'n')"), "G")
end)

sit("they go when the user saves, and stay when it is saved for an agent", function(human)
  local path = opens(human)
  changed(human, path, { { start = 1, ["end"] = 2 } })
  shows(human, ".#...")
  human:lua("local b = vim.api.nvim_get_current_buf(); require('pillion.marks').during_save(b, function() vim.cmd('silent write') end)")
  shows(human, ".#...")
  human:type("Gosix<Esc>:write<CR>")
  shows(human, "......")
end)

sit("accepted in this file, or in all", function(human)
  local path = opens(human)
  changed(human, path, { { start = 1, ["end"] = 2 } })
  shows(human, ".#...")
  human:type(":Pillion accept<CR>")
  human:sees("accepted in this file")
  shows(human, ".....")
  changed(human, path, { { start = 0, ["end"] = 1 } })
  changed(human, path .. ".other", { { start = 0, ["end"] = 1 } })
  shows(human, "#....")
  human:type(":Pillion accept all<CR>")
  human:sees("accepted in 2 files")
  shows(human, ".....")
  human:type(":Pillion accept<CR>")
  human:sees("nothing is marked in this file")
end)

sit("what is reverted is marked no longer; another call's lines are", function(human)
  local path = opens(human)
  changed(human, path, { { start = 1, ["end"] = 2 } })
  changed(human, path, { { start = 3, ["end"] = 4 } }, { callId = "c2" })
  shows(human, ".#.#.")
  changed(human, path, {}, { state = "reverted" })
  shows(human, "...#.")
end)

sit("a file that no buffer holds: shown when it is opened, unless somebody else wrote it since", function(human)
  local folder = check.folder()
  local path = check.write(vim.fs.joinpath(folder, "app.py"), "one\ntwo\nthree\nfour\nfive\n")
  changed(human, path, { { start = 3, ["end"] = 4, removed = 1 } })
  changed(human, path, { { start = 0, ["end"] = 2, removed = 1 } }, { callId = "c2" }) -- a line more above it
  human:type(":edit " .. path .. "<CR>")
  human:sees("five")
  shows(human, "##..#")
  human:type(":enew | bunload #<CR>:edit #<CR>")
  human:sees("five")
  shows(human, "##..#")
  human:type(":enew | bunload #<CR>")
  human:eventually(("vim.fn.bufloaded(%q) == 0"):format(path))
  check.write(path, "one\ntwo\nthree\nfour\nfive\nsix\n")
  human:type(":edit #<CR>")
  human:sees("six")
  shows(human, "......")
end)

sit("undone and redone, a mark goes and comes with its change", function(human)
  local path = opens(human)
  human:lua([[vim.api.nvim_buf_set_text(0, 1, 0, 1, 1, { "T" }); require("pillion.marks").edited(vim.api.nvim_get_current_buf())]])
  changed(human, path, { { start = 1, ["end"] = 2, removed = 1 } })
  shows(human, ".#...")
  human:type("u")
  shows(human, ".....")
  human:type("<C-r>")
  shows(human, ".#...")
  human:type("uGomine<Esc>")
  shows(human, "......")
end)

sit("what is typed between an agent's edit and the word about it moves the marks to their lines", function(human)
  local path = opens(human)
  human:lua(
    [[vim.api.nvim_buf_set_lines(0, 1, 2, true, { "TWO", "2.5" }); require("pillion.marks").edited(vim.api.nvim_get_current_buf())]]
  )
  human:type("ggOmine<Esc>Gomine<Esc>")
  human:eventually("vim.fn.line('$') == 8 and vim.api.nvim_get_mode().mode == 'n'")
  changed(human, path, { { start = 1, ["end"] = 3, removed = 1 } })
  shows(human, "..##....")
  human:type("3GdG")
  human:eventually("vim.fn.line('$') == 2")
  changed(human, path, { { start = 4, ["end"] = 5, removed = 1 } }) -- there is no such line any more
  shows(human, "..")
end)

sit("without signs, and with whole lines, as it was set", function(human)
  human:lua("require('pillion.config').set({ marks = { signs = false, lines = true } })")
  local path = opens(human)
  changed(human, path, { { start = 1, ["end"] = 2, removed = 0 } })
  human:eventually([[vim.deep_equal({ "PillionLineAdded" }, vim.tbl_map(function(mark) return mark[4].line_hl_group end,
    vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("pillion.marks"), 0, -1, { details = true })))]])
  shows(human, ".....")
end)

sit("a file that is moved takes a saved buffer along, which is written without a question", function(human)
  local path = opens(human)
  local to = path .. ".moved"
  human:type("3G")
  human:eventually("vim.fn.line('.') == 3")
  vim.uv.fs_rename(path, to)
  moved(human, path, to)
  human:eventually("vim.api.nvim_buf_get_name(0):find('moved$') ~= nil")
  check.same(human:lua("return { vim.fn.line('.'), vim.bo.modified, #vim.fn.getbufinfo() }"), { 3, false, 1 })
  human:type("Gomine<Esc>:write<CR>")
  person.eventually("it is written", function()
    return check.read(to):match("mine\n$")
  end)
  check.same(vim.uv.fs_stat(path), nil)
end)

sit("a folder that is moved takes the buffers of its files along", function(human)
  local path = opens(human)
  local folder = vim.fs.dirname(path)
  vim.uv.fs_rename(folder, folder .. "-new")
  moved(human, folder, folder .. "-new")
  human:eventually("vim.api.nvim_buf_get_name(0):find('-new/app.py', 1, true) ~= nil")
  human:type("Gomine<Esc>:write<CR>")
  person.eventually("it is written", function()
    return check.read(folder .. "-new/app.py"):match("mine\n$")
  end)
end)

sit("the marks of files that no buffer holds move with their folder, and go with it", function(human)
  local folder = check.folder()
  local path = check.write(folder .. "/app.py", "one\ntwo\nthree\nfour\nfive\n")
  changed(human, path, { { start = 1, ["end"] = 2 } })
  vim.uv.fs_rename(folder, folder .. "-new")
  moved(human, folder, folder .. "-new")
  human:type(":edit " .. folder .. "-new/app.py<CR>")
  shows(human, ".#...")
  changed(human, folder .. "-new/other.py", { { start = 0, ["end"] = 1 } })
  check.same(human:lua("return require('pillion.marks').count()"), 2)
  moved(human, folder .. "-new")
  check.same(human:lua("return require('pillion.marks').count()"), 1)
end)

sit("what is not saved stays under the old name, and is told; so is a file that is deleted", function(human)
  local path = opens(human)
  human:type("Gomine<Esc>")
  human:eventually("vim.fn.getline('$') == 'mine' and vim.api.nvim_get_mode().mode == 'n'")
  local to = path .. ".moved"
  vim.uv.fs_rename(path, to)
  moved(human, path, to)
  human:sees("your unsaved changes stay")
  check.same(human:lua("return { vim.bo.modified, vim.api.nvim_buf_get_name(0), vim.fn.getline('$') }"), { true, path, "mine" })
  moved(human, path)
  human:sees("its text is still in its buffer")
end, { columns = 160 })
