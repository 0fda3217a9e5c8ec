-- What loading the plugin costs: one command, one autocommand. Everything else is read when it is first used.

vim.api.nvim_create_user_command("Pillion", function(command)
  require("pillion.commands").run(command.args, command.range > 0 and { command.line1, command.line2 } or nil)
end, {
  nargs = "*",
  range = true,
  desc = "Coding agents here: requests and answers",
  complete = function(lead, line, at)
    return require("pillion.commands").complete(lead, line:sub(1, at))
  end,
})

local function autostart()
  if vim.g.pillion_autostart ~= false then
    require("pillion").autostart()
  end
end

vim.api.nvim_create_autocmd({ "VimEnter", "UIEnter", "DirChanged" }, {
  group = vim.api.nvim_create_augroup("pillion.entry", {}),
  desc = "Pillion: start the sidecar of the current folder",
  callback = function(event)
    if vim.v.vim_did_enter == 1 or event.event == "VimEnter" then
      vim.schedule(autostart)
    end
  end,
})

if vim.v.vim_did_enter == 1 then
  vim.schedule(autostart) -- loaded late
end
