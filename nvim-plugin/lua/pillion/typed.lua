-- What was on show when the user opened the command line. Neovim draws nothing anew while one is typed, so a yes that is typed
-- there is meant for what stood on the screen at its beginning.

local approvals = require("pillion.approvals")

local api = vim.api

local M = {}

---@type { id?: string, digest?: string, all?: string }? nil when no command line is at work
local seen
local attached = false

--- Whether what is run now may count as a yes to this: it did not change since the user began to type.
---@param approval pillion.Approval
---@return boolean
function M.is_meant(approval)
  return not seen or seen.id == approval.id and seen.digest == approval.request.digest
end

--- The same for the page with all that waits.
---@return boolean
function M.is_meant_for_all()
  return not seen or seen.all == require("pillion.together").digest()
end

--- Once there is something that could be approved.
function M.attach()
  if attached then
    return
  end
  attached = true
  local group = api.nvim_create_augroup("pillion.typed", {})
  api.nvim_create_autocmd("CmdlineEnter", {
    group = group,
    callback = function()
      local approval = approvals.get(vim.b.pillion_approval)
      seen = { id = approval and approval.id, digest = approval and approval.request.digest, all = require("pillion.together").digest() }
    end,
  })
  api.nvim_create_autocmd("CmdlineLeave", {
    group = group,
    callback = vim.schedule_wrap(function() -- the command runs before this does
      seen = nil
    end),
  })
end

return M
