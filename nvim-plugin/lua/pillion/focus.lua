-- Tells sidecars which window the user used last (`window/focused`): agents prefer it where two have one folder open.
-- Not every terminal says when it has the focus, so what the user does counts as well.

local client = require("pillion.client")

local api = vim.api

local M = {}

--- The user's doings are told at most this often.
local quiet_ms = 5000

local told_at = -quiet_ms

local function tell()
  told_at = vim.uv.now()
  client.each(function(one)
    one.notify("window/focused", {})
  end)
end

function M.setup()
  local group = api.nvim_create_augroup("pillion.focus", {})
  api.nvim_create_autocmd({ "FocusGained", "VimResume", "UIEnter", "TermEnter" }, { group = group, callback = tell })
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "CmdlineEnter", "ModeChanged" }, {
    group = group,
    callback = function()
      if vim.uv.now() - told_at > quiet_ms then
        tell()
      end
    end,
  })
  api.nvim_create_autocmd("FocusLost", {
    group = group,
    callback = function()
      if require("pillion.config").get().notify then
        told_at = -quiet_ms -- what the user does next says that they are back
        client.each(function(one)
          one.notify("window/focused", { focused = false })
        end)
      end
    end,
  })
  client.on_state(function(one)
    if one.state == "ready" and #api.nvim_list_uis() > 0 then
      one.notify("window/focused", {})
    end
  end)
end

return M
