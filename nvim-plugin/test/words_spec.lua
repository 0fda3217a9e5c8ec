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

check.test("sizes, durations, and which of several files", function()
  local edit = { path = "run.sh", additions = 2, deletions = 1 }
  local mode = { path = "run.sh", additions = 0, deletions = 0 }
  local other = { path = "old.bin", additions = 2, deletions = 1 }
  check.same(words.size({ edit, mode, other }), "+4 −2")
  check.same({ words.place({ edit, mode }, mode), words.place({ edit, other, mode }, other) }, { "", " (2 of 2)" })
  check.same({ words.duration(50), words.duration(420), words.duration(12000), words.duration(180000) }, { "", "0.4 s", "12 s", "3 min" })
end)

-- What the sidecar composes, by the last part of its name in Lua.
local composed = {}
for name in ("reason label deed act summary banner meaning question notice title message fact.text reason.text"):gmatch("%S+") do
  composed[name] = true
end

-- What looks into a text: `startswith(X`, `X:find(`, `X == "…"`.
local looks = {
  "startswith%(([%w_.]+)",
  "endswith%(([%w_.]+)",
  "([%w_.]+):g?find%(",
  "([%w_.]+):g?match%(",
  '([%w_.]+)%s*[=~]=%s*"[^"]',
}

check.test("no module looks into what is said of a request, only at codes", function()
  for _, path in ipairs(vim.api.nvim_get_runtime_file("lua/pillion/*.lua", true)) do
    for line in io.lines(path) do
      for _, pattern in ipairs(looks) do
        for name in line:gmatch(pattern) do
          assert(not (composed[name:match("[^.]*$")] or composed[name:match("[^.]*%.[^.]*$")]), vim.fs.basename(path) .. ": " .. line)
        end
      end
    end
  end
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
