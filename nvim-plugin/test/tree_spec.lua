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

---@param file table as person.files has it
---@param id? string
local function about(file, id)
  return person.edit_request(id or "A", { file }, { title = "Do it", arguments = { path = file[1] } })
end

sit("a text that would be deleted: compared with nothing, and its right side cannot be written in", function(human)
  looks(human, about({ "src/old.py", "one\ntwo\n", "", operation = "delete", deed = "delete %s", summary = "deleted" }))
  human:sees("  1 one")
  check.same(human:lua("return { vim.bo.modifiable, #vim.api.nvim_tabpage_list_wins(0) }"), { false, 2 })
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(human:waits("A"), true)
  human:type(":Pillion edit<CR>")
  human:sees("nothing to edit here")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end, { init = "vim.o.number = true" })

sit("a folder is on a page that cannot be written in, with its contents", function(human)
  local contents = { code = "contents", label = "Contents", text = "", items = { "12 files", "src/b\\u202e.py" }, tone = "warning" }
  local file = { "src", "", "", text = false, operation = "delete", deed = "delete the folder %s", summary = "deleted, 12 files" }
  file.facts = { contents }
  looks(human, about(file))
  human:sees("claude wants to delete the folder src")
  human:sees("src  deleted, 12 files")
  human:sees("Contents    12 files")
  human:sees("            src/b\\u202e.py")
  check.same(human:lua("return { vim.bo.modifiable, #vim.api.nvim_tabpage_list_wins(0) }"), { false, 1 })
  human:reads()
  human:type("ge")
  human:sees("nothing to edit here")
  human:reads()
  human:type("gr")
  check.same(human:answered("A").decision, "reject")
end)

sit("beside changed texts in one call: a page among the diffs, and one answer for all", function(human)
  local request = person.edit_request("A", {
    { "app.py", "one\n", "two\n" },
    { "old.bin", "", "", text = false, operation = "delete", summary = "deleted, binary, 4 bytes" },
  })
  looks(human, request)
  human:sees("app.py (1 of 2)")
  check.same(human:lua("return #vim.api.nvim_tabpage_list_wins(0)"), 3)
  human:type("]f")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 2")
  human:sees("old.bin  deleted, binary, 4 bytes")
  human:type("]f")
  human:sees("app.py (1 of 2)")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 3")
  check.same(human:approves("A").decision, "approve")
end)

sit("a merged proposal says that it is one, above it and beside its first change", function(human)
  looks(human, person.edit_request("A", { { "app.py", "one\nmine\n", "two\nmine\n", merged = true, banner = "merged with your changes" } }))
  human:sees(" merged  ga")
  human:sees("merged with your changes")
  check.same(human:approves("A").decision, "approve")
end, { columns = 200 })
