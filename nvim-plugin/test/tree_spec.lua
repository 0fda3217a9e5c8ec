-- Questions about files and folders as a whole: deleting, moving, making a folder. And a proposal that was merged.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 110, lines = 30 })

---@param human pillion.Person
---@param request table
local function looks(human, request)
  human:ask("approval/request", request)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:eventually("vim.fn.tabpagenr() == 2")
end

---@param file table {path, before, after, operation, …}
---@param tool string
local function about(file, tool)
  return person.edit_request("A", { file }, { tool = tool, title = "Do it", arguments = { path = file[1] } })
end

sit("a file that would be deleted: the text that goes is on a page that cannot be written in", function(human)
  looks(human, about({ "src/old.py", "one\ntwo\u{200b}\n", "", operation = "delete" }, "delete_file"))
  human:sees("claude wants to delete src/old.py")
  human:sees("  - one")
  human:sees("  - two\\u{200b}")
  check.same(human:lua("return { vim.bo.modifiable, #vim.api.nvim_tabpage_list_wins(0) }"), { false, 1 })
  human:type("ga")
  human:sees("too fast, press again")
  human:type("ge")
  check.same(human:waits("A"), true)
  human:reads()
  human:type("ge")
  human:sees("nothing to edit here")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("a folder: how many files go with it, and their names", function(human)
  looks(human, about({ "src", "", "", operation = "delete", entries = 12, diff = "src/a.py\nsrc/b\u{202e}.py\n" }, "delete_file"))
  human:sees("claude wants to delete src")
  human:sees("12 files go with it:")
  human:sees("    src/b\\u{202e}.py")
  check.same(human:lua("return vim.fn.search('have not saved', 'n')"), 0)
end)

sit("a very long text that goes is cut, and how much is not shown is said", function(human)
  looks(human, about({ "log", ("x\n"):rep(2100), "", operation = "delete" }, "delete_file"))
  human:eventually("vim.fn.search('and 100 more lines', 'n') > 0")
end)

sit("what is no text is not shown, nor what git says of a move; unsaved text is said to stay", function(human)
  looks(
    human,
    about(
      { "a.bin", "", "", operation = "delete", whole = "binary, 4 bytes", diff = "Binary files a/a.bin and /dev/null differ\n" },
      "delete_file"
    )
  )
  human:sees("claude wants to delete a.bin (binary, 4 bytes)")
  check.same(human:lua("return vim.fn.search('Binary files', 'n')"), 0)
  human:reads()
  human:type("gr")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  local move = about({ "a.py", "", "", operation = "move", to = "b.py", diff = "diff --git a b\nsimilarity index 100%\n" }, "move_file")
  move.approvalId, move.preview.files[1].dirty = "B", true
  looks(human, move)
  human:sees("that text stays in its buffer")
  check.same(human:lua("return vim.fn.search('similarity', 'n')"), 0)
end)

sit("a move says where to, and a new folder is named as one", function(human)
  looks(human, about({ "a.py", "x\n", "", operation = "move", to = "lib/b.py" }, "move_file"))
  human:sees("claude wants to move a.py to lib/b.py")
  human:reads()
  human:type("gr")
  check.same(human:answered("A").decision, "reject")
  local folder = about({ "src/new", "", "", operation = "create_directory" }, "create_directory")
  folder.approvalId = "B"
  looks(human, folder)
  human:sees("claude wants to create folder src/new")
end)

sit("beside changed texts in one call: a page among the diffs, and one answer for all", function(human)
  local request = person.edit_request("A", {
    { "app.py", "one\n", "two\n" },
    { "old.py", "gone\n", "", operation = "delete" },
  })
  looks(human, request)
  human:sees("app.py (1 of 2)")
  check.same(human:lua("return #vim.api.nvim_tabpage_list_wins(0)"), 2)
  human:type("]f")
  human:sees("delete old.py")
  check.same(human:lua("return #vim.api.nvim_tabpage_list_wins(0)"), 1)
  human:type("]f")
  human:sees("app.py (1 of 2)")
  check.same(human:lua("return #vim.api.nvim_tabpage_list_wins(0)"), 2)
  check.same(human:approves("A").decision, "approve")
end)

sit("a merged proposal says that it is one, above it and beside its first change", function(human)
  looks(human, person.edit_request("A", { { "app.py", "one\nmine\n", "two\nmine\n", merged = true } }))
  human:sees(" merged  ga")
  human:sees("merged with what changed since")
  check.same(human:approves("A").decision, "approve")
end, { columns = 200 })
