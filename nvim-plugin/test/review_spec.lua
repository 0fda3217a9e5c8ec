-- Parts of a proposal, and patches that are reviewed, in a real Neovim with real keys.

local check = require("check")
local person = require("person")

---@param put? table<integer, string>
local function numbered(put)
  local lines = {}
  for line = 1, 40 do
    lines[line] = (put or {})[line] or ("line " .. line)
  end
  return table.concat(lines, "\n") .. "\n"
end

local before, after = numbered(), numbered({ [3] = "three", [20] = "twenty", [38] = "last" })
local hunks = {
  { id = "1", header = "@@ -1,6 +1,6 @@", lines = { " line 1", " line 2", "-line 3", "+three", " line 4", " line 5", " line 6" } },
  { id = "2", header = "@@ -17,7 +17,7 @@", lines = { " line 17", "-line 20", "+twenty" } },
  { id = "3", header = "@@ -35,6 +35,6 @@", lines = { " line 35", "-line 38", "+last" } },
}

local function without(...)
  local put = { [3] = "three", [20] = "twenty", [38] = "last" }
  for _, line in ipairs({ ... }) do
    put[line] = nil
  end
  return numbered(put)
end

local function proposal(id, more)
  return person.edit_request(id, { { "app.py", before, after, hunks = hunks } }, more)
end

--- A file of a review, as empty as can be but for `more`.
local function reviewed(path, operation, more)
  return vim.tbl_extend("force", {
    path = path,
    uri = "file:///p/" .. path,
    operation = operation,
    language = "python",
    before = "",
    after = "",
    additions = 0,
    deletions = 0,
    openInEditor = false,
    dirty = false,
  }, more)
end

local function review(id, more)
  return vim.tbl_extend("force", {
    reviewId = id,
    sessionId = "s",
    agent = { name = "claude", via = "mcp" },
    message = "two ways to round; take one\u{200b}",
    files = {
      reviewed("app.py", "overwrite", { hunks = hunks, before = before, after = after, additions = 3, deletions = 3 }),
      reviewed("new.py", "create", {
        hunks = { { id = "4", header = "@@ -0,0 +1 @@", lines = { "+new" } } },
        after = "new\n",
        additions = 1,
      }),
      reviewed("moved.py", "move", { from = "old.py", hunks = { { id = "5", header = "moved", lines = {} } } }),
    },
  }, more or {})
end

local sit = person.sitting({ columns = 160, lines = 50 })

---@param human pillion.Person
local function looks(human, method, request)
  human:ask(method, request)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("hunk 1 of")
end

--- What stands on the right side of a file.
---@param human pillion.Person
local function right(human, name)
  return human:lua(
    [[local name = ...
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.endswith(vim.api.nvim_buf_get_name(buffer), name .. " (proposed)") then
        return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") .. "\n"
      end
    end]],
    name or "app.py"
  )
end

---@param human pillion.Person
local function comes_to(human, text, name)
  person.eventually("the right side", function()
    return right(human, name) == text
  end)
end

sit("one key leaves the hunk under the cursor out, and takes it again", function(human)
  looks(human, "approval/request", proposal("A"))
  human:sees("hunk 1 of 3 taken · all chosen · app.py")
  human:type("gh")
  human:sees("hunk 1 of 3 left out · 2 of 3 chosen · app.py")
  human:sees("left out: +1 −1")
  human:sees("ga approve 2 of 3")
  check.same(right(human), without(3))
  human:type("]h]h")
  human:sees("hunk 3 of 3 taken · 2 of 3 chosen")
  check.same(human:lua("return vim.api.nvim_win_get_cursor(0)"), { 38, 0 })
  human:type("gh")
  human:sees("hunk 3 of 3 left out · 1 of 3 chosen")
  human:type("[h[hgh")
  human:sees("hunk 1 of 3 taken · 2 of 3 chosen")
  check.same(right(human), without(38))
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1", selected = { "1", "2" } })
end)

sit("from the left side too, and all of the file at once; nothing chosen is no yes", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("<C-w>h20Ggh")
  human:sees("hunk 2 of 3 left out")
  check.same(right(human), without(20))
  human:type("gH")
  human:sees("all chosen")
  human:type("gH")
  human:sees("0 of 3 chosen")
  check.same(right(human), before)
  human:reads()
  human:type("ga")
  human:sees("every hunk is left out")
  check.same(human:waits("A"), true)
  human:type("gH")
  human:sees("all chosen")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("what the human wrote stays when a hunk beside it is left out, and is told of when it is in the way", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("20GA, mine<Esc>")
  human:sees("edited by you")
  human:sees("written over by you")
  human:type("gh")
  human:sees("because you wrote over it")
  check.same(right(human), numbered({ [3] = "three", [20] = "twenty, mine", [38] = "last" }))
  human:type("[hgh")
  human:sees("hunk 1 of 3 left out · 2 of 3 chosen")
  check.same(right(human), numbered({ [20] = "twenty, mine", [38] = "last" }))
  check.same(human:approves("A"), {
    decision = "edit",
    decisionId = "approve",
    digest = "d1",
    after = { ["app.py"] = numbered({ [20] = "twenty, mine", [38] = "last" }) },
    selected = { "2", "3" },
  })
end)

sit("the page of a patch says of which file the human's own text counts", function(human)
  looks(human, "patch/review", review("R"))
  human:type("20GA, mine<Esc>")
  human:sees("edited by you")
  human:type("]h]h]h")
  human:eventually("vim.fn.searchcount({ pattern = 'You wrote in this: your text counts' }).total == 1")
end)

sit("u takes a choice back, and what is got from the other side is one", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("gh")
  human:sees("2 of 3 chosen")
  human:type("u")
  human:sees("all chosen")
  check.same(right(human), after)
  human:type("20Gdo")
  human:sees("hunk 2 of 3 left out · 2 of 3 chosen")
  check.same(human:lua("return require('pillion.approvals').get('A'):is_edited()"), false)
  human:type(":e!<CR>")
  human:sees("hunk 2 of 3 left out")
  check.same(human:approves("A").selected, { "1", "3" })
end)

sit("the text beneath moves: what was left out stays left out", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("gh")
  human:sees("2 of 3 chosen")
  local moved = vim.tbl_map(function(hunk)
    local from, count = hunk.header:match("^@@ %-(%d+),(%d+)")
    return { id = hunk.id, header = ("@@ -%d,%d +%d,%d @@"):format(from + 1, count, from + 1, count) }
  end, hunks)
  local preview = person.edit_request("A", { { "app.py", "new\n" .. before, "new\n" .. after, hunks = moved } }).preview
  human:tell("approval/changed", { approvalId = "A", digest = "d2", preview = preview, moved = true })
  comes_to(human, "new\n" .. without(3))
  human:sees("2 of 3 chosen")
  local answer = human:approves("A")
  check.same({ answer.digest, answer.selected }, { "d2", { "2", "3" } })
end)

sit("a single hunk is approved or not", function(human)
  human:ask(
    "approval/request",
    person.edit_request("A", { { "a.py", "one\n", "two\n", hunks = { { id = "1", header = "@@ -1 +1 @@" } } } })
  )
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("two")
  human:type("gh")
  human:sees("no hunks to choose here")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("a patch is reviewed: announced, counted, and what is chosen of it is the answer", function(human)
  human:ask("patch/review", review("R"))
  human:sees("claude wants to have a patch of 3 files reviewed; two ways to round; take one\\u{200b}")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return { vim.fn.tabpagenr(), require('pillion.status').waiting() }"), { 1, 1 })
  human:type("gt")
  human:sees("hunk 1 of 5 taken · all chosen · app.py (1 of 3)")
  human:sees("gR cancel with reason")
  human:sees("take one\\u{200b}")
  human:type("]hgh")
  human:sees("hunk 2 of 5 left out · 4 of 5 chosen")
  human:type("]h]h")
  human:sees("hunk 4 of 5 taken · 4 of 5 chosen · new.py (2 of 3)")
  human:type("Gomine<Esc>]h")
  human:sees("hunk 5 of 5 taken · 4 of 5 chosen · moved.py (3 of 3)")
  human:sees("move old.py to moved.py")
  human:type("gh")
  human:sees("hunk 5 of 5 left out · 3 of 5 chosen")
  human:sees("You leave this out")
  human:eventually("vim.fn.search('Of this you take 2 of 3 hunks', 'n') > 0")
  human:type("]h")
  human:sees("hunk 1 of 5 taken")
  check.same(human:approves("R"), { action = "apply", selected = { "1", "3", "4" }, edited = { ["new.py"] = "new\nmine\n" } })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("all of a patch, with one key", function(human)
  looks(human, "patch/review", review("R"))
  human:type("ga")
  human:sees("too fast, press again")
  check.same(human:approves("R"), { action = "apply", selected = { "1", "2", "3", "4", "5" } })
end)

sit("cancelled, with a reason and without", function(human)
  looks(human, "patch/review", review("R"))
  human:reads()
  human:type("gRneither<CR>")
  check.same(human:answered("R"), { action = "cancel", selected = {}, feedback = "neither" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
  for id, keys in pairs({ S = ":Pillion cancel not now<CR>", T = ":Pillion reject not now<CR>" }) do
    looks(human, "patch/review", review(id))
    human:type(keys)
    check.same(human:answered(id), { action = "cancel", selected = {}, feedback = "not now" })
    human:eventually("vim.fn.tabpagenr('$') == 1")
  end
  for id, key in pairs({ U = "gr", V = "gC" }) do
    looks(human, "patch/review", review(id))
    human:reads()
    human:type(key)
    check.same(human:answered(id), { action = "cancel", selected = {} })
    human:eventually("vim.fn.tabpagenr('$') == 1")
  end
end)

sit("a review opens behind the human while they type, and closes itself when it is dead", function(human)
  human:type_into("i", "i")
  human:ask("patch/review", review("R"))
  human:sees("claude wants to have a patch of 3 files reviewed")
  human:type("gh ga<Esc>")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return { vim.fn.tabpagenr(), vim.api.nvim_get_current_line() }"), { 1, "gh ga" })
  human:lua("Wire.cancels.R()")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(human:answered("R").error.code, -32800)
end)

sit("what hides is written out in what is told of a file", function(human)
  local file = review("R").files[3]
  file.path, file.whole = "mo\u{202e}ved.py", "mode 100644 → 100755"
  looks(human, "patch/review", review("R", { files = { file, review("R").files[2] } }))
  human:sees("move old.py to mo\\u{202e}ved.py (mode 100644 → 100755)")
  human:sees("mo\\u{202e}ved.py (1 of 2)")
end)

sit("of what has no lines it is told what the sidecar says of it, whatever its hunk is called", function(human)
  local function told(id, path, operation, more)
    return reviewed(path, operation, vim.tbl_extend("force", { hunks = { { id = id, header = "a header", lines = {} } } }, more))
  end
  local files = {
    told("1", "old.bin", "delete", { whole = "binary, 4 bytes" }),
    told("2", "empty.txt", "delete", {}),
    told("3", "pot.png", "create", { whole = "binary, 88 bytes" }),
    told("4", "brew.sh", "overwrite", { note = "made executable", whole = "made executable" }),
    reviewed("b.py", "move", {
      from = "a.py",
      note = "made executable",
      before = "a\n",
      after = "b\n",
      additions = 1,
      deletions = 1,
      hunks = { { id = "6", header = "@@ -1 +1 @@", lines = { "-a", "+b" } } },
    }),
    told("5", "two.bin", "copy", { from = "one.bin", note = "made executable", whole = "made executable, binary, 3 bytes" }),
  }
  looks(human, "patch/review", review("R", { files = files }))
  for _, words in ipairs({ "delete old.bin (binary, 4 bytes)", "create pot.png (binary, 88 bytes)", "edit brew.sh (made executable)" }) do
    human:sees("  " .. words)
  end
  human:sees("  delete empty.txt")
  human:sees("  copy one.bin to two.bin (made executable, binary, 3 bytes)")
  human:type("]h]h]h]h]h")
  human:eventually("vim.fn.search('  b.py  +1 -1, moved from a.py, made executable', 'nw') > 0")
  check.same(human:lua("return vim.fn.search('a header', 'nw')"), 0)
end)

sit("a long message is shown whole above the first change, and what hides in it is written out", function(human)
  local long = ("first paragraph, which goes on for some time "):rep(4) .. "and ends\n\n- second\u{202e} paragraph\n- third"
  looks(human, "patch/review", review("R", { message = long }))
  human:sees("which goes on for some time and ends")
  human:sees("- second\\u{202e} paragraph")
  human:sees("- third")
  human:type("gh")
  human:sees("4 of 5 chosen")
  human:sees("- third")
  human:type("]h]h]h")
  human:sees("new.py (2 of 3)")
  human:sees("- third")
  human:type("]h")
  human:sees("It says")
  human:sees("- third")
end)
