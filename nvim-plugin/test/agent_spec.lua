-- An agent's program in a terminal: started, put away and shown again by one command; what is sent stands in its prompt.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 80, lines = 24 })

--- Programs of agents: each says its name and its folder, and then what it reads, line by line.
---@param human pillion.Person
---@param names string[]
---@return string folder of the project
local function install(human, names)
  local root, programs = vim.uv.fs_realpath(check.folder()), vim.uv.fs_realpath(check.folder())
  for _, name in ipairs(names) do
    local path = check.write(
      vim.fs.joinpath(programs, name),
      '#!/bin/sh\necho I am ${0##*/} in $PWD\nwhile read -r line; do echo "read: $line"; done\n'
    )
    vim.uv.fs_chmod(path, tonumber("755", 8))
  end
  human:lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", programs)
  human:lua("Wire.client.root = ...", root)
  human:lua(
    "Wire.client.agents = { { id = 'claude', name = 'Claude Code' }, { id = 'qwen', name = 'Qwen Code' }, { id = 'codex', name = 'Codex' } }"
  )
  human:lua("vim.env.PATH = (...) .. ':/usr/bin:/bin'", programs)
  return root
end

sit("it starts in the project's folder, is put away, and shown again as it was", function(human)
  local root = install(human, { "claude" })
  human:type(":Pillion agent<CR>")
  human:sees("I am claude in")
  check.same(
    human:lua("return vim.fs.basename(vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':p')) ~= '' and vim.bo.buftype"),
    "terminal"
  )
  check.same(human:lua("return vim.uv.fs_realpath('/proc/' .. vim.fn.jobpid(vim.bo.channel) .. '/cwd')"), root)
  human:eventually("vim.api.nvim_get_mode().mode == 't'")
  human:type("hello<CR>")
  human:sees("read: hello")
  human:type("<C-Bslash><C-n>:Pillion agent<CR>")
  human:eventually("vim.fn.winnr('$') == 1")
  human:type(":Pillion agent<CR>")
  human:sees("read: hello")
  human:eventually("vim.api.nvim_get_mode().mode == 't'")
end)

sit("of several one is chosen; one that is named is started; one that is not there is told", function(human)
  install(human, { "claude", "qwen" })
  human:type(":Pillion agent<CR>")
  human:sees("2: Qwen Code")
  human:type("2<CR>")
  human:sees("I am qwen in")
  human:type("<C-Bslash><C-n>:Pillion agent claude<CR>")
  human:sees("I am claude in")
  human:type("<C-Bslash><C-n>:Pillion agent codex<CR>")
  human:sees("there is no program codex on your PATH")
  check.same(human:lua("return vim.fn.getcompletion('Pillion agent ', 'cmdline')"), { "claude", "qwen" })
end)

sit("the file, its lines and its diagnostics go into the prompt, and nothing is sent", function(human)
  local root = install(human, { "claude" })
  check.write(root .. "/app.py", "one\ntwo\nthree\n")
  human:type(":edit " .. root .. "/app.py<CR>:Pillion send<CR>")
  human:sees("start an agent first: :Pillion agent")
  human:type(":Pillion agent<CR>")
  human:sees("I am claude in")
  human:type("<C-Bslash><C-n><C-w>k:Pillion send<CR>")
  human:sees("@app.py")
  check.same(human:screen():find("read:", 1, true), nil)
  human:eventually("vim.api.nvim_get_mode().mode == 't'")
  human:type("why?<CR>")
  human:sees("read: @app.py why?")
  human:lua(
    "vim.diagnostic.set(vim.api.nvim_create_namespace('x'), vim.fn.bufnr('app.py'), { { lnum = 1, col = 0, message = 'not two', severity = 1 } })"
  )
  human:type("<C-Bslash><C-n><C-w>k:Pillion send diagnostics<CR>")
  human:sees("app.py:2: error: not two")
  human:type("<CR><C-Bslash><C-n><C-w>kggVj:Pillion send<CR>")
  human:sees("app.py:1-2")
  human:sees("two")
end)
