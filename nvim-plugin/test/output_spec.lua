-- What a process prints is text, colours, and the ends of lines. What else it sends to a terminal, the sidecar leaves out
-- (rpc/terminal_text_test.go).

local check = require("check")
local Output = require("pillion.output")

---@param output pillion.Output
---@return string[]
local function lines(output)
  local found = {}
  for number = output.first, output.last do
    found[#found + 1] = output:line(number).text
  end
  return found
end

---@param ... string pieces as they come
---@return string[]
local function printed(...)
  local output = Output.new()
  for _, piece in ipairs({ ... }) do
    output:write(piece)
  end
  return lines(output)
end

check.test("moves of the cursor mean nothing here, and a line's end is erased", function()
  check.same(printed("a\27[1;1H\27[10A\27[3B\27[2C\27[5G\27[2J\27[1Kb\nc"), { "ab", "c" })
  check.same(printed("a\27b"), { "ab" }, "which the sidecar does not send")
end)

check.test("what cannot be seen, or turns text around, is written out", function()
  check.same(printed("a\u{202e}b\u{200b}c\1\u{9b}31md"), { "a\\u{202e}b\\u{200b}c\\u{1}\\u{9b}31md" })
  check.same(printed("\tindented\tby tabs"), { "\tindented\tby tabs" })
  check.same(printed("✔\u{fe0f} grün 日本語 🛵"), { "✔ grün 日本語 🛵" })
end)

check.test("a line is written over after a carriage return, as progress is shown", function()
  check.same(printed("10%\r50%\r100%\n"), { "100%", "" })
  check.same(printed("downloading\rdone\n"), { "doneloading", "" })
  check.same(printed("downloading\r\27[Kdone\n"), { "done", "" })
  check.same(printed("downloading\27[2K\rdone\n"), { "done", "" })
  check.same(printed("a\r\nb\r\n"), { "a", "b", "" })
  check.same(printed("äöü\rx"), { "xöü" })
  check.same(printed("abc\b\bX"), { "aXc" })
  check.same(printed("abc\r", "", "X", "Y"), { "XYc" })
  check.same(printed("\b\b\bx"), { "x" })
  check.same(printed("abc\rX\27[K"), { "X" })
end)

---@param text string
---@return table[]
local function paint(text)
  local output = Output.new()
  output:write(text)
  return vim.tbl_map(function(one)
    return { one.from, one.to, one.style.colour, one.style.bold, one.style.underline }
  end, output:line(1).paint)
end

check.test("colours, and nothing that hides", function()
  check.same(paint("\27[31mred\27[0m plain"), { { 0, 3, "Red" } })
  check.same(paint("\27[1;4;92mx\27[22;24;39my"), { { 0, 1, "Green", true, true } })
  check.same(paint("\27[38;5;196mx\27[38;2;10;20;200my\27[38:5:46mz"), { { 0, 1, "Red" }, { 1, 2, "Blue" }, { 2, 3, "Green" } })
  check.same(paint("\27[38;5;232mx"), { { 0, 1, "Black" } }, "a group of the user's own scheme, which can be seen")
  check.same(paint("\27[8mconcealed\27[5;7;30;40mx"), { { 9, 10, "Black" } })
  check.same(paint("\27[48;5;1mx\27[48;2;0;0;0my\27[41mz"), {})
  check.same(paint("\27[31ma\27[mb"), { { 0, 1, "Red" } })
  check.same(paint("\27[38mx\27[999999999mx\27[;;mx"), {})
  check.same(paint("\27[31mred\r\27[32mgr"), { { 0, 2, "Green" }, { 2, 3, "Red" } })
end)

check.test("a colour goes on in the next line and the next piece", function()
  local output = Output.new()
  output:write("\27[31mred\n")
  output:write("still\27[0m")
  check.same(output:line(2).paint, { { from = 0, to = 5, style = { colour = "Red" } } })
end)

check.test("it is bounded: lines, bytes, and the length of a line", function()
  local output = Output.new()
  for _ = 1, 400 do
    output:write(("y\n"):rep(100))
  end
  check.same(output.last - output.first + 1, Output.most_lines)
  check.same(output.last, 40001)
  output = Output.new()
  for _ = 1, 1000 do
    output:write(("ä"):rep(2000))
  end
  local bytes = 0
  for number = output.first, output.last do
    local line = output:line(number).text
    bytes = bytes + #line
    check.same({ #line <= Output.longest_line, line:gsub("ä", "") }, { true, "", #line / 2 })
  end
  check.same(bytes <= Output.most_bytes + Output.longest_line, true)
  output = Output.new()
  for _ = 1, 200 do
    output:write("\r" .. ("x"):rep(1999) .. "\r" .. ("y"):rep(100) .. "\b\b\bzz")
  end
  check.same(output.last, 1)
  check.same(#output:line(1).text <= 2 * Output.longest_line, true)
end)

check.test("what we say stands on a line of its own", function()
  local output = Output.new()
  output:write("half")
  output:note("said")
  output:write("rest")
  check.same(lines(output), { "half", "said", "rest" })
  check.same({ output:line(1).note, output:line(2).note, output:line(3).note }, { nil, true, nil })
end)

check.test("whatever bytes come, none is an error and none gets through as a control", function()
  math.randomseed(7)
  local alphabet =
    { "\27", "[", "]", "m", "K", "\r", "\n", "\b", "\7", ";", "3", "8", "\195", "\188", "\240", "x", "\\", "P", "\24", "?", "\155", " " }
  for _ = 1, 300 do
    local output = Output.new()
    for _ = 1, 10 do
      local piece = {}
      for index = 1, math.random(0, 30) do
        piece[index] = alphabet[math.random(#alphabet)]
      end
      output:write(table.concat(piece))
    end
    for number = output.first, output.last do
      local line = output:line(number)
      check.same(line.text:find("[%z\1-\8\10-\31\127]"), nil)
      for _, one in ipairs(line.paint) do
        check.same(one.from < one.to and one.to <= #line.text, true)
      end
    end
  end
end)
