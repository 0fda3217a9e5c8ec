-- What is shown of an agent's words: nothing hides, and it reads as in the other editor.

local check = require("check")
local escape = require("pillion.escape")
local text = require("pillion.text")
local words = require("pillion.words")

check.test("invisible and reordering characters are written out", function()
  check.same(
    escape.visible("rm -rf \u{202e}fr\u{200b}\t\27[31m\r\0x\u{a0}y\u{3164}"),
    "rm -rf \\u{202e}fr\\u{200b}\\t\\e[31m\\r\\0x\\u{a0}y\\u{3164}"
  )
  check.same(escape.visible("\u{fe0f}\u{e0041}\u{10ffff}\u{378}\127"), "\\u{fe0f}\\u{e0041}\\u{10ffff}\\u{378}\\u{7f}")
end)

check.test("what can be seen stays as it is", function()
  local plain = "grün – 日本語 🛵 ~/a b"
  check.same(escape.visible(plain), plain)
  check.same(escape.visible_lines("a\nb\tc"), { "a", "b\\tc" })
  check.same(escape.visible(nil), "")
end)

check.test("a long line is cut in the middle, by characters", function()
  check.same(escape.short(("ä"):rep(10), 10), ("ä"):rep(10))
  check.same(escape.short("0123456789abcdef", 10), "0123456…ef")
  check.same(escape.short("", 5), "")
end)

local function request(operation, tool, count)
  local files = {}
  for index = 1, count or 1 do
    files[index] = { path = ("f%d.py"):format(index), operation = operation, additions = 2, deletions = 1 }
  end
  return {
    tool = tool or "edit_file",
    preview = { kind = "diff", files = files },
    reasons = { "this tool changes files", "it is protected" },
  }
end

check.test("a call is told in the words of the other editor", function()
  check.same(words.deed(request("overwrite")), "edit f1.py")
  check.same(words.deed(request("overwrite", "write_file")), "overwrite f1.py")
  check.same(words.deed(request("create")), "create f1.py")
  check.same(words.deed(request("overwrite", nil, 3)), "edit 3 files")
  check.same(words.deed({ preview = { kind = "command", command = "make" } }), "run make")
  check.same(words.deed({ tool = "read_file", preview = { kind = "text", markdown = "" } }), "use read_file")
  check.same(words.deed({ tool = "exit_plan_mode", preview = { kind = "text", markdown = "" } }), "carry out a plan")
  check.same(words.size(request("overwrite", nil, 2).preview.files), "+4 −2")
  check.same(words.particulars(request("overwrite")), { "it is protected" })
  check.same(words.duration(50), "")
  check.same(words.duration(420), "0.4 s")
  check.same(words.duration(12000), "12 s")
  check.same(words.duration(180000), "3 min")
end)

check.test("a text comes back from a buffer as it went in", function()
  for _, sample in ipairs({ "", "a", "a\n", "a\r\nb\r\n", "a\r\nb", "a\r\nb\n", "a\n\n", "\n\nx\n", "nul\0here\n", "ä\n" }) do
    local buffer = vim.api.nvim_create_buf(false, true)
    text.put(buffer, sample)
    check.same(text.get(buffer), sample)
    text.put(buffer, "something else\n" .. sample)
    check.same(text.get(buffer), "something else\n" .. sample)
    text.put(buffer, sample)
    check.same(text.get(buffer), sample)
    check.same(vim.bo[buffer].modified, false)
  end
end)

check.test("a file to which two things are done is one file", function()
  local edit = { path = "run.sh", operation = "overwrite", additions = 1, deletions = 1 }
  local mode = { path = "run.sh", operation = "change_mode", whole = "made executable", additions = 0, deletions = 0 }
  local bytes = { path = "old.bin", operation = "delete", whole = "binary, 4 bytes", additions = 0, deletions = 0 }
  local function deed(...)
    return words.deed({ tool = "apply_patch", preview = { kind = "diff", files = { ... } } })
  end
  check.same(
    { deed(edit, mode), deed(edit, mode, bytes), deed(bytes) },
    { "edit run.sh", "edit 2 files", "delete old.bin (binary, 4 bytes)" }
  )
  check.same({ words.place({ edit, mode }, mode), words.place({ edit, bytes, mode }, bytes) }, { "", " (2 of 2)" })
end)

check.test("beside the diff of a file stands what is about it, or that more than it is meant", function()
  local one, other = { path = "run.sh", operation = "overwrite" }, { path = "b.py", operation = "overwrite", told = "move a.py to b.py" }
  local function beside(tool, files, file, description)
    local reasons = { "this tool changes files", "run.sh is made a program" }
    local preview = { kind = "diff", files = files }
    return words.beside({ tool = tool, reasons = reasons, description = description or "", preview = preview }, file)
  end
  check.same(beside("apply_patch", { one }, one), "asks because run.sh is made a program")
  check.same(beside("apply_patch", { one, other }, other), "this change of 2 files asks because run.sh is made a program")
  check.same(beside(words.review, { one, other }, other, "take one"), "take one; move a.py to b.py")
  check.same(beside(words.review, { one, other }, one, "take one"), "take one")
  check.same(beside(words.review, { one, other }, other, "a\nb"), "move a.py to b.py") -- that stands above
  check.same(beside(words.review, { one, other }, one, ""), "")
end)
