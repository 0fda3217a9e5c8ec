-- Hunks and the texts that they make: `git apply` is the oracle of what is taken.

local Chosen = require("pillion.chosen")
local check = require("check")
local hunks = require("pillion.hunks")
local person = require("person")

---@param first integer
---@param last integer
---@param put? table<integer, string|false> other lines; false: none
local function numbered(first, last, put)
  local lines = {}
  for line = first, last do
    local text = (put or {})[line]
    if text ~= false then
      lines[#lines + 1] = (text or ("line " .. line)) .. "\n"
    end
  end
  return table.concat(lines)
end

--- Takes some of a patch as git does.
---@return string? text nil where git refuses
local function applied(before, patch)
  local folder = check.folder()
  check.write(folder .. "/a", before)
  local done = vim.system({ "git", "apply", "--unidiff-zero", "-" }, { cwd = folder, stdin = patch, text = false }):wait()
  return done.code == 0 and check.read(folder .. "/a") or nil
end

--- A file as a preview has it, and its diff in pieces: one for each hunk, without lines around it.
---@return pillion.FilePreview file, string[] pieces
local function preview(before, after)
  local pieces = {}
  for line in
    vim.gsplit((vim.diff(before, after, { ctxlen = 0 }) --[[@as string]]):gsub("\n$", ""), "\n", { plain = true })
  do
    if line:sub(1, 2) == "@@" then
      pieces[#pieces + 1] = ""
    end
    pieces[#pieces] = pieces[#pieces] .. line .. "\n"
  end
  return person.files({ { "a", before, after } })[1], pieces
end

--- A piece, with its lines elsewhere in the new text: those before it are others when a hunk is left out.
local function shifted(piece, by)
  return (piece:gsub("^(@@ %S+ %+)(%d+)", function(head, line)
    return head .. tonumber(line) + by
  end))
end

local texts = {
  plain = { numbered(1, 60), numbered(1, 60, { [2] = "two", [20] = "twenty", [21] = false, [40] = "forty\nand", [60] = "end" }) },
  ["no line end"] = { numbered(1, 30) .. "last", "first\n" .. numbered(1, 30, { [15] = false }) .. "lost" },
  ["a line end goes"] = { "a\nb\n" .. numbered(1, 20) .. "z\n", "A\nb\n" .. numbered(1, 20) .. "z" },
  ["carriage returns"] = { (numbered(1, 30):gsub("\n", "\r\n")), (numbered(1, 30, { [3] = "x", [25] = "y" }):gsub("\n", "\r\n")) },
  ["all alike"] = { ("}\n"):rep(40), ("}\n"):rep(10) .. "{\n" .. ("}\n"):rep(20) .. "{\n" .. ("}\n"):rep(10) },
  ["the beginning and the end"] = { numbered(1, 30), numbered(4, 27) },
}

for name, pair in vim.spairs(texts) do
  check.test("any choice of hunks is what git makes of it: " .. name, function()
    local file, pieces = preview(pair[1], pair[2])
    local all = hunks.of(file)
    check.same(#all, #pieces)
    assert(#all > 1, "nothing to choose")
    for choice = 1, 2 ^ #all - 1 do
      local taken, patch, off = {}, "--- a/a\n+++ b/a\n", 0
      for index, one in ipairs(all) do
        taken[one] = math.floor(choice / 2 ^ (index - 1)) % 2 == 1
        patch = patch .. (taken[one] and shifted(pieces[index], off) or "")
        off = off + (taken[one] and 0 or #one.before - #one.after)
      end
      local made = hunks.text(file.before, all, function(one)
        return taken[one]
      end)
      check.same(made, applied(file.before, patch), ("choice %d of\n%s"):format(choice, file.diff))
      local read = assert(hunks.read(made, file.before, all))
      check.same(
        hunks.text(file.before, all, function(one)
          return read[one]
        end),
        made
      )
    end
  end)
end

---@return pillion.Chosen chosen, pillion.Hunk[] hunks, pillion.FilePreview file
local function chosen(pair)
  local file = preview(pair[1], pair[2])
  local it = Chosen.new({ file })
  return it, it:of("a"), file
end

--- What is selected or left out as a whole.
local function whole(id, path, operation, before)
  local file = person.files({ { path, before or "", "", text = false, operation = operation, summary = operation } })[1]
  file.hunks[1].id = id
  return file
end

check.test("a hunk without lines is selected or left out as a whole, and a deleted text comes back with it", function()
  local gone = whole("5", "old", "delete", "a\n")
  local it = Chosen.new({ preview(texts.plain[1], texts.plain[2]), gone })
  check.same({ it:count() }, { 5, 5 })
  check.same(it:right("old"), "")
  it:select("old", it:of("old")[1], false)
  check.same({ it:count("old") }, { 0, 1 })
  check.same({ it:ids(), it:right("old") }, { { "1", "2", "3", "4" }, "a\n" })
end)

check.test("a file whose text is changed and which gets a mode as well: each by itself", function()
  local mode = whole("5", "a", "change_mode")
  local it = Chosen.new({ preview(texts.plain[1], texts.plain[2]), mode })
  check.same({ it:count() }, { 5, 5 })
  it:select(it:key(mode), it:of(it:key(mode))[1], false)
  it:select("a", it:of("a")[2], false)
  check.same({ it:count("a") }, { 3, 4 })
  check.same(it:ids(), { "1", "3", "4" })
end)

check.test("left hunks are not in the text, and taken again they are", function()
  local it, all, file = chosen(texts.plain)
  it:select("a", all[1], false)
  it:select("a", all[3], false)
  check.same(it:right("a"), numbered(1, 60, { [20] = "twenty", [21] = false, [60] = "end" }))
  check.same(it:ids(), { "2", "4" })
  check.same({ it:is_whole(), it:is_nothing(), it:is_edited() }, { false, false, false })
  it:select("a", all[1], true)
  it:select("a", all[3], true)
  check.same({ it:right("a"), it:is_whole() }, { file.after, true })
end)

check.test("nothing is chosen: a yes would do nothing, unless the user wrote something", function()
  local it, all, file = chosen(texts.plain)
  for _, one in ipairs(all) do
    it:select("a", one, false)
  end
  check.same({ it:right("a"), it:is_nothing(), it:ids() }, { file.before, true, {} })
  it:write("a", file.before .. "mine\n")
  check.same(it:is_nothing(), false)
end)

check.test("what the user wrote stays, whatever hunk is taken or left beside it", function()
  local it, all, file = chosen(texts.plain)
  local own = (file.after:gsub("line 30\n", "line 30, mine\n"))
  it:write("a", own)
  check.same(it:select("a", all[3], false), true)
  check.same(it:right("a"), (own:gsub("forty\nand\n", "line 40\n")))
  check.same(it:select("a", all[1], false), true)
  check.same(it:select("a", all[3], true), true)
  check.same(it:right("a"), (own:gsub("^(line 1\n)two\n", "%1line 2\n")))
  check.same(it:edited(), { a = it:right("a") })
  check.same(it:select("a", all[1], true), true)
  check.same(it:right("a"), own)
end)

check.test("a hunk that the user wrote over cannot be left, and their text stays", function()
  local it, all, file = chosen(texts.plain)
  local own = (file.after:gsub("forty\n", "forty, mine\n"))
  it:write("a", own)
  check.same({ it:is_stuck("a", all[3]), it:is_stuck("a", all[1]) }, { true, false })
  check.same(it:select("a", all[3], false), false)
  check.same({ it:right("a"), it:has(all[3]) }, { own, true })
end)

check.test("an editor's own means choose as well, and an undo does", function()
  local it, all, file = chosen(texts.plain)
  it:write("a", (file.after:gsub("twenty\n", "line 20\nline 21\n")))
  check.same({ it:has(all[2]), it:is_edited() }, { false, false })
  it:write("a", file.after)
  check.same(it:is_whole(), true)
  local own = file.after .. "mine\n"
  it:write("a", own)
  it:select("a", all[2], false)
  it:write("a", own) -- undone
  check.same({ it:has(all[2]), it:right("a") }, { true, own })
end)

check.test("where alike lines stand the nearest hunk is put in", function()
  local it, all, file = chosen(texts["all alike"])
  it:write("a", "mine\n" .. file.after)
  check.same(it:select("a", all[2], false), true)
  check.same(it:right("a"), "mine\n" .. ("}\n"):rep(10) .. "{\n" .. ("}\n"):rep(30))
end)

check.test("the text beneath moves: what was left stays left", function()
  local it, all = chosen(texts.plain)
  it:select("a", all[2], false)
  local moved = preview("new\n" .. texts.plain[1], "new\n" .. texts.plain[2])
  local next = Chosen.new({ moved }, it)
  check.same(next:ids(), { "1", "3", "4" })
  local other = preview(texts.plain[1], (texts.plain[2]:gsub("twenty", "20")))
  check.same(Chosen.new({ other }, it):ids(), { "1", "2", "3", "4" })
end)

check.test("the nearest hunk, on both sides", function()
  local it, all = chosen(texts.plain)
  local function at(line, left)
    return select(2, it:nearest("a", line, left))
  end
  check.same({ at(0), at(1), at(12), at(19), at(38), at(58) }, { 1, 1, 2, 2, 3, 4 })
  check.same({ at(39, true), at(59, true) }, { 3, 4 })
  check.same({ it:place("a", all[3]), it:place("a", all[3], true) }, { { from = 38, to = 40 }, { from = 39, to = 40 } })
  it:select("a", all[2], false)
  check.same(it:place("a", all[3]), { from = 39, to = 41 })
end)
