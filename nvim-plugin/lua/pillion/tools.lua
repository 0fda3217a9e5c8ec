-- `:Pillion tools`: what agents can call here, and where it comes from, as the sidecars word it.

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local gather = require("pillion.gather")

local M = {}

function M.open()
  gather(function(client, answered)
    client.request("tools/list", { format = "page", refresh = true }, function(err, result)
      if err then
        announce.tell("Pillion: the tools cannot be listed: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
      end
      answered(not err and result.text or "")
    end)
  end, function(texts)
    local page = require("pillion.page")
    local buffer = page.scratch("pillion://tools", "nofile")
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close the list of tools" })
    page.put(buffer, { lines = escape.visible_lines(vim.trim(table.concat(texts, "\n"))), marks = {} })
    page.go_to(buffer)
    vim.wo.linebreak, vim.wo.breakindent, vim.wo.breakindentopt = true, true, "shift:4"
  end)
end

return M
