-- Whether the user is in this Neovim, as the sidecar hears it.

local check = require("check")
local person = require("person")

local sit = person.sitting()

local function watch(human)
  human:lua([[
    Wire.noted = {}
    Wire.client.notify = function(method, params)
      table.insert(Wire.noted, { method, params.focused })
      return true
    end
  ]])
end

sit("whoever leaves is away until they come back", function(human)
  watch(human)
  human:lua("vim.api.nvim_exec_autocmds('FocusLost', {})")
  check.same(human:lua("return Wire.noted"), { { "window/focused", false } })
  human:lua("vim.api.nvim_exec_autocmds('FocusGained', {})")
  check.same(human:lua("return Wire.noted[2]"), { "window/focused" })
end)

sit("whoever wants no messages is fetched by none", function(human)
  watch(human)
  human:lua("require('pillion.config').set({ notify = false })")
  human:lua("Wire.noted = {}; vim.api.nvim_exec_autocmds('FocusLost', {})")
  check.same(human:lua("return Wire.noted"), {})
end)
