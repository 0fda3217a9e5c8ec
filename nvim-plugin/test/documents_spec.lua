-- What the sidecar is told of a buffer equals the buffer.

local check = require("check")
local test, same = check.test, check.same

local root = check.folder()
local world = require("fake").install(root)
local documents = require("pillion.documents")
documents.setup()

local number = 0

--- Opens a file of these bytes in this window.
---@param bytes string
---@param name? string
local function open(bytes, name)
  number = number + 1
  local path = check.write(vim.fs.joinpath(root, name or ("file%d.txt"):format(number)), bytes)
  vim.cmd.edit({ vim.fn.fnameescape(path), bang = true })
  return path
end

local function settled(path)
  local seen
  check.eventually("the sidecar knows the buffer", function()
    for _, document in ipairs(documents.all()) do
      if document.pending or document.scheduled then
        return false
      end
    end
    seen = world.document(path)
    return true
  end)
  return seen
end

---@param path string
---@param text string
local function holds(path, text)
  same(settled(path).text, text)
end

local shapes = {
  ["line feeds"] = "one\ntwo\n",
  ["no final newline"] = "one\ntwo",
  ["DOS lines"] = "one\r\ntwo\r\n",
  ["DOS lines without the last"] = "one\r\ntwo",
  ["mixed lines"] = "one\r\ntwo\nthree\n",
  ["a lone carriage return"] = "one\rtwo\nthree\n",
  ["nothing"] = "",
  ["an empty line"] = "\n",
  ["wide characters"] = "naïve 🐎 pillion\nzwei\n",
  ["a byte of nothing"] = "a\0b\nc\n",
}

for name, bytes in vim.spairs(shapes) do
  test("opens: " .. name, function()
    local path = open(bytes)
    holds(path, bytes)
    same(world.document(path).version, 1)
    same(world.document(path).state.dirty, false)
  end)

  test("follows: " .. name, function()
    local path = open(bytes)
    vim.api.nvim_buf_set_lines(0, 0, 0, true, { "new" })
    vim.api.nvim_buf_set_lines(0, -1, -1, true, { "last" })
    local text = documents.text(0)
    holds(path, text)
    same(world.document(path).state.dirty, true)
    vim.cmd("silent write")
    holds(path, check.read(path))
    same(world.document(path).state.dirty, false)
    vim.bo.undolevels = vim.bo.undolevels -- a script is one undo step
    vim.cmd("silent %delete")
    holds(path, "")
    vim.cmd("silent undo")
    holds(path, check.read(path))
    vim.cmd("silent write")
    same(world.document(path).state.dirty, false)
  end)
end

test("what the user does at random", function()
  math.randomseed(20261121)
  local steps = {
    "normal! ggdd",
    "normal! Gdd",
    "normal! Gofour",
    "normal! ggOzero",
    "normal! Gp",
    "normal! ggyyP",
    "normal! GAx🐎",
    "normal! ggJ",
    "silent! undo",
    "silent! redo",
    "%s/o/ö/e",
    "silent! 2,3move 0",
    "silent! 1copy $",
    "normal! ggIé",
    "silent! sort",
    "silent! global/e/normal! Ay",
    "silent write",
    "set fileformat=dos",
    "set fileformat=unix",
    "set noendofline",
    "set endofline",
    "silent! 1delete",
    "normal! Gxx",
    [[execute "normal! ggi\<C-v>\<CR>"]],
    "silent edit!",
  }
  for _, bytes in vim.spairs(shapes) do
    local path = open(bytes)
    for _ = 1, 60 do
      local step = steps[math.random(#steps)]
      vim.cmd(step)
      if math.random(3) == 1 then
        same(settled(path).text, documents.text(0), step)
        same(world.document(path).state.dirty, vim.bo.modified, step)
      end
    end
    holds(path, documents.text(0))
    vim.cmd("silent write")
    holds(path, check.read(path))
    vim.cmd("bwipeout!")
    same(world.document(path), nil)
  end
end)

test("many changes of one moment are one", function()
  local path = open("a\nb\nc\n")
  settled(path)
  for i = 1, 50 do
    vim.api.nvim_buf_set_lines(0, 1, 1, true, { tostring(i) })
  end
  same(settled(path).version, 2)
  holds(path, documents.text(0))
end)

test("encodings, marks and line ends are told", function()
  local path = open("\255\254h\0i\0\n\0", "utf16.txt")
  local state = settled(path).state
  same({ state.encoding, state.bom, state.eol }, { "utf-16le", true, "\n" })
  vim.cmd("set fileencoding=latin1 nobomb fileformat=dos")
  state = check.eventually("the new state", function()
    local now = world.document(path).state
    return now.encoding == "latin1" and now.eol == "\r\n" and now
  end)
  same(state.bom, false)
  holds(path, "hi\r\n")
end)

test("read-only and not modifiable", function()
  local path = open("x\n")
  same(settled(path).state.readonly, false)
  vim.bo.readonly = true
  check.eventually("it is read-only", function()
    return world.document(path).state.readonly
  end)
  vim.bo.readonly = false
  check.eventually("it is not", function()
    return not world.document(path).state.readonly
  end)
  vim.bo.modifiable = false
  check.eventually("it is again", function()
    return world.document(path).state.readonly
  end)
end)

test("another name is another document", function()
  local path = open("x\n")
  settled(path)
  local other = vim.fs.joinpath(root, "other name.txt")
  vim.cmd("silent saveas " .. vim.fn.fnameescape(other))
  holds(other, "x\n")
  same(world.document(path), nil)
  vim.cmd.file(vim.fn.fnameescape(vim.fs.joinpath(vim.fs.dirname(root), "elsewhere.txt")))
  same(world.document(other), nil)
end)

test("what is no file of the workspace is not told", function()
  local before = vim.tbl_count(world.documents)
  vim.cmd("enew")
  vim.cmd.edit("oil://somewhere/else")
  vim.cmd.edit(check.write(check.folder() .. "/outside.txt", "x\n"))
  vim.cmd("help help")
  same(vim.tbl_count(world.documents), before)
end)

test("a file behind a symbolic link to the workspace is one of it", function()
  local link = check.folder() .. "/link"
  vim.uv.fs_symlink(root, link)
  local path = check.write(root .. "/linked.txt", "x\n")
  vim.cmd.edit(link .. "/linked.txt")
  holds(path, "x\n")
end)

test("a file that was changed outside is read anew and told once", function()
  local path = open("one\n")
  settled(path)
  check.write(path, "one, changed\n")
  vim.cmd("silent checktime")
  holds(path, "one, changed\n")
  same(world.document(path).version, 2)
  same(world.document(path).state.dirty, false)
end)

test("a sidecar that starts again is told everything", function()
  local path = open("x\n")
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "unsaved" })
  holds(path, "unsaved\nx\n")
  world.become("starting")
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "meanwhile" })
  world.become("ready")
  holds(path, "meanwhile\nunsaved\nx\n")
  same(world.document(path).state.dirty, true)
  vim.api.nvim_buf_set_lines(0, 0, 1, true, {})
  holds(path, "unsaved\nx\n")
  vim.cmd("silent! write")
end)

test("a save is told after its text", function()
  local path = open("x\n")
  settled(path)
  world.sent = {}
  vim.api.nvim_create_autocmd("BufWritePre", {
    buffer = 0,
    callback = function()
      vim.api.nvim_buf_set_lines(0, 0, 0, true, { "formatted" })
    end,
  })
  vim.cmd("silent write")
  local order = vim.tbl_map(function(message)
    return message[1]
  end, world.sent)
  same(order, { "textDocument/didChange", "document/state", "textDocument/didSave" })
  same(world.document(path).text, "formatted\nx\n")
end)

test("a list of changes joins into one", function()
  -- 10 lines; 3-5 became 1; then 0-1 became 2; then 4-9 of what there is became nothing.
  local pending = documents.join(nil, 3, 5, 4)
  pending = documents.join(pending, 0, 1, 2)
  pending = documents.join(pending, 4, 9, 4)
  same(pending, { first = 0, last = 9, now = 4 })
end)
