-- run.lua [SPEC…]: runs the plugin's unit tests in real, headless Neovims, one for each file `*_spec.lua`:
--
--   nvim --headless -u NONE -i NONE -n -l nvim-plugin/test/run.lua
--
-- A spec calls `require("check").test(name, fn)` and asserts. What is printed is TAP; the exit code is 1 when anything failed.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
vim.o.report = 99999
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

---@param spec string
local function run_one(spec)
  vim.notify = function() end -- what is said to people would stand between the lines
  dofile(spec)
  os.exit(require("check").finish(vim.fs.basename(spec)))
end

---@param specs string[]
local function run_all(specs)
  local passed, failed = 0, 0
  for _, spec in ipairs(specs) do
    local command = { vim.v.progpath, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-l", here .. "/run.lua", spec }
    local done = vim.system(command, { text = true, timeout = 600000 }):wait() -- what stands still fails, and does not hold up the rest
    local output = (done.stdout .. done.stderr):gsub("\r\n", "\n")
    io.stdout:write(output)
    local _, good = ("\n" .. output):gsub("\nok ", "")
    local _, bad = ("\n" .. output):gsub("\nnot ok ", "")
    if done.code ~= 0 and bad == 0 then
      bad = 1
      io.stdout:write(("not ok - %s ended with code %d\n"):format(spec, done.code))
    end
    passed, failed = passed + good, failed + bad
  end
  io.stdout:write(("# pass %d\n# fail %d\n"):format(passed, failed))
  os.exit(failed == 0 and 0 or 1)
end

if #arg == 1 then
  run_one(arg[1])
else
  run_all(#arg > 0 and arg or vim.fn.sort(vim.fn.glob(here .. "/*_spec.lua", false, true)))
end
