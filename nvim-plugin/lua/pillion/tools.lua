-- `:Pillion tools`: what agents can call here, and where it comes from, as the sidecars word it.

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local gather = require("pillion.gather")

local api = vim.api

local M = {}

---@param texts string[] one of each sidecar
local function show(texts)
  local lines = vim.split(vim.trim(table.concat(texts, "\n")), "\n")
  local buffer = require("pillion.page").scratch("pillion://tools", "nofile")
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close the list of tools" })
  api.nvim_buf_set_lines(buffer, 0, -1, false, vim.tbl_map(escape.visible, lines))
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
  vim.cmd(("botright sbuffer %d"):format(buffer))
  vim.wo.linebreak, vim.wo.breakindent, vim.wo.breakindentopt = true, true, "shift:4"
end

function M.open()
  gather(function(client, answered)
    client.request("tools/list", { format = "page", refresh = true }, function(err, result)
      if err then
        announce.tell("Pillion: the tools cannot be listed: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
      end
      answered(not err and result.text or "")
    end)
  end, show)
end

return M
