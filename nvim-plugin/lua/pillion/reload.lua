-- Brings what programs wrote to disk into the buffers that show it. Only buffers without unsaved text, only where the user has
-- not turned 'autoread' off, and never with Neovim's question about it; of the others Neovim itself speaks when its time comes.

local client = require("pillion.client")
local documents = require("pillion.documents")

local api = vim.api

local M = {}

--- Reads a buffer without unsaved text anew if its file is another one by now.
---@param buffer integer
---@return boolean fits whether buffer and file belong together; false where a `:write` would ask
function M.check(buffer)
  local fits = true
  local silencer = api.nvim_create_autocmd("FileChangedShell", {
    buffer = buffer,
    callback = function()
      -- Where anybody listens to this event Neovim does not ask. It comes where 'autoread' does not help: that is off, or
      -- the file is gone.
      fits = false
      vim.v.fcs_choice = ""
    end,
  })
  documents.hold(buffer, function()
    -- What fails here is an autocommand of the user's that reading the file set off; what fits was told by the event.
    pcall(vim.cmd, "silent checktime " .. buffer)
  end)
  pcall(api.nvim_del_autocmd, silencer) -- it went with its buffer if that is gone
  return fits
end

---@type table<integer, string> what each buffer's file looked like when it was last looked at
local seen = {}

local scheduled, unfinished = false, false

--- Reading a file anew under the user's hands is for later.
local function check_all()
  scheduled = false
  local now = api.nvim_get_mode()
  if now.blocking or vim.fn.getcmdwintype() ~= "" then
    unfinished = true
    return
  end
  unfinished = now.mode ~= "n"
  for _, document in ipairs(documents.all()) do
    local buffer = document.buffer
    local is_free = now.mode == "n" or buffer ~= api.nvim_get_current_buf()
    if vim.o.autoread and not vim.bo[buffer].modified and is_free then
      local looks, before = documents.looks(document.path), seen[buffer]
      seen[buffer] = looks
      if looks ~= before then
        M.check(buffer)
      end
    end
  end
end

--- Soon, once for all that happens together.
function M.soon()
  if not scheduled then
    scheduled = true
    vim.schedule(check_all)
  end
end

local ended = { done = true, failed = true }

function M.setup()
  client.on("activity/changed", function(entry)
    if ended[entry.state] then
      M.soon()
    end
  end)
  require("pillion.events").on("reload")({ "ModeChanged", "CmdwinLeave" }, function()
    if unfinished then
      M.soon()
    end
  end)
end

return M
