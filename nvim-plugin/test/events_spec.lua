-- `User` autocommands, with clients as they are.

local check = require("check")
local person = require("person")

check.test("a call is told to those who listen, although its client holds what no event can carry", function()
  local human = person.sit_down()
  human:lua("Wire.client.connection = { process = vim.uv.new_timer() }")
  local call = { callId = "c", sessionId = "s", tool = "read_file", title = "Read a.py", state = "done", summary = "", durationMs = 1 }
  call.agent = { name = "claude", via = "mcp" }
  human:tell("activity/changed", call)
  local events, messages = human:lua("return Wire.events"), human:lua("return vim.fn.execute('messages')")
  human:leave()
  check.same(events, { { "PillionActivity", call } })
  check.same(messages, "")
end)
