-- What a process prints is text, colours, and the ends of lines. Whatever else it sends to a terminal does nothing and hides
-- nothing.

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

-- Each sends something to the terminal between `a` and `b`: it may only vanish.
local hostile = {
  ["the clipboard, OSC 52"] = "\27]52;c;cm0gLXJmIC8=\7",
  ["the clipboard, ended by ST"] = "\27]52;c;cm0gLXJmIC8=\27\\",
  ["a title"] = "\27]0;root@host\7",
  ["a folder, OSC 7"] = "\27]7;file:///etc\27\\",
  ["a link's beginning"] = "\27]8;;https://evil.example\27\\",
  ["a colour of the terminal, asked"] = "\27]11;?\27\\",
  ["a colour of the terminal, set"] = "\27]4;0;rgb:00/00/00\7",
  ["a notification, OSC 9 and 777"] = "\27]9;hello\7\27]777;notify;a;b\7",
  ["a file, OSC 1337"] = "\27]1337;File=inline=1:AAAA\7",
  ["who are you"] = "\27[c\27[>c\27[=c",
  ["where is the cursor"] = "\27[6n\27[?6n",
  ["what is your state"] = "\27[5n\27[18t\27[21t",
  ["a setting of the terminal, asked"] = "\27P$qm\27\\\27P+q544e\27\\",
  ["a macro, run"] = "\27P1;1;1!z41\27\\\27[1*z",
  ["a picture, Kitty's"] = "\27_Gf=100;AAAA\27\\",
  ["another screen"] = "\27[?1049h\27[?47h",
  ["mouse and paste"] = "\27[?1000h\27[?2004h",
  ["the keyboard's protocol"] = "\27[>1u\27[?u",
  ["the cursor elsewhere"] = "\27[1;1H\27[10A\27[3B\27[2C\27[5G\27[s\27[u\0277\0278",
  ["everything cleared"] = "\27[2J\27[3J\27[1K",
  ["lines inserted and deleted"] = "\27[5L\27[5M\27[3P\27[2@",
  ["a scroll region"] = "\27[1;5r\27D\27M",
  ["a reset"] = "\27c\27[!p",
  ["character sets"] = "\27(0\27)B\27%G",
  ["keys of its own"] = "\27=\27>",
  ["a bell"] = "\7\7",
  ["a privacy message"] = "\27^secret\27\\",
  ["a start of string"] = "\27Xsecret\27\\",
  ["parameters without end"] = "\27[" .. ("1;"):rep(500) .. "H",
  ["colours of private use"] = "\27[>4;2m\27[?4m",
}

for name, sequence in vim.spairs(hostile) do
  check.test(name .. ": nothing is left of it, whole or cut anywhere", function()
    check.same(printed("a" .. sequence .. "b\nc"), { "ab", "c" })
    for cut = 1, #sequence do
      check.same(printed("a" .. sequence:sub(1, cut), sequence:sub(cut + 1) .. "b\nc"), { "ab", "c" }, "cut at " .. cut)
    end
  end)
end

check.test("a string that does not end swallows no other line", function()
  check.same(printed("a\27]0;title\nb"), { "a", "b" })
  check.same(printed("a\27Pq;;", "more\nb\n"), { "a", "b", "" })
  local long = ("x"):rep(5000)
  check.match(table.concat(printed("a\27]52;c;" .. long .. "\nb"), ""), "b$")
  check.same(table.concat(printed("a\27]0;" .. long), ""):sub(-10), ("x"):rep(10))
  check.same(table.concat(printed("a\27[" .. ("1"):rep(5000)), ""):sub(-4), "1111")
end)

check.test("a sequence that is broken off is no sequence, and what follows is text", function()
  check.same(printed("a\27[31\nb"), { "a", "b" })
  check.same(printed("a\27\27[31mb"), { "ab" })
  check.same(printed("a\27]0;x\27[1mb"), { "ab" })
  check.same(printed("a\27"), { "a" })
  check.same(printed("a\27", "[1", "mb"), { "ab" })
end)

check.test("what cannot be seen, or turns text around, is written out", function()
  check.same(printed("a\u{202e}b\u{200b}c\1\u{9b}31md"), { "a\\u{202e}b\\u{200b}c\\u{1}\\u{9b}31md" })
  check.same(printed("nul\0and del\127"), { "nuland del" })
  check.same(printed("\tindented\tby tabs"), { "\tindented\tby tabs" })
  check.same(printed("✔\u{fe0f} grün 日本語 🛵"), { "✔ grün 日本語 🛵" })
end)

check.test("a character comes in pieces", function()
  check.same(printed("gr\195", "\188n \240\159", "\155", "\181\n"), { "grün 🛵", "" })
  check.same(printed("\195", "x"), { "\195x" })
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
