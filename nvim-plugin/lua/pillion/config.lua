-- What the user can set: the defaults, and a check that names what is wrong. `settings` is the sidecar's own object and goes
-- to it as it is (docs/settings.md); everything else is this plugin's.

local M = {}

---@class pillion.Rule
---@field rule string
---@field matches? string[] command lines or paths that it matches, checked when it is read
---@field not? string[] and some that it does not match
---@field why? string

---@class pillion.Permissions
---@field allow? (string|pillion.Rule)[] calls that run without asking, such as `run_command(git status)`
---@field ask? (string|pillion.Rule)[] calls that always ask
---@field deny? (string|pillion.Rule)[] calls that are denied

---@class pillion.Settings
---@field mode? "plan"|"draft"|"default"|"auto_edit"|"auto" the mode of a new session
---@field permissions? pillion.Permissions
---@field approvals? { expireSeconds?: integer }
---@field limits? table<string, integer>
---@field trace? { server?: "off"|"messages"|"verbose" } how much of the traffic with the sidecar `:Pillion log` shows

---@class pillion.Config
---@field path string the `pillion` program; empty: the one in this plugin's `bin`, else the one on PATH
---@field root_markers string[] a folder with one of these is a workspace; otherwise the current folder is
---@field settings pillion.Settings
---@field layout string where a request opens: `tab`, in a tab of its own behind yours; `split`, below your windows; `float`, over them when you go to it
---@field notify boolean announce requests in a message; the statusline and `:Pillion` show them anyway
---@field keys table<string, string|false> keys in a proposal, on a page, in the buffer of a process, in lists and between marks; false: none
---@field marks table<string, boolean> how lines that an agent changed are marked: `signs` in the sign column, `lines` as whole lines
---@field terminal_path boolean let `:terminal` find the program when it is not on PATH

---@type pillion.Config
M.defaults = {
  path = "",
  root_markers = { ".git" },
  settings = {},
  layout = "tab",
  notify = true,
  keys = {
    approve = "ga",
    save = "gw",
    turn = "gA",
    session = "gs",
    workspace = "gS",
    reject = "gr",
    reason = "gR",
    discard = "gD",
    cancel = "gC",
    edit = "ge",
    comment = "gm",
    hunk = "gh",
    file = "gH",
    next_hunk = "]h",
    prev_hunk = "[h",
    next_file = "]f",
    prev_file = "[f",
    next = "]a",
    prev = "[a",
    close = "q",
    write = "i",
    kill = "gK",
    show = "<CR>",
    revert = "gu",
    revert_turn = "gU",
    revert_since = "gB",
    revert_agent = "gX",
    tick = "x",
    add = "o",
    remove = "dd",
    up = "K",
    down = "J",
    pause = "p",
    mode = "m",
    rule = "r",
    finish = "X",
    help = "g?",
    next_mark = "]p",
    prev_mark = "[p",
  },
  marks = { signs = true, lines = false },
  terminal_path = true,
}

---@type pillion.Config
M.current = vim.deepcopy(M.defaults)

--- What is wrong with these options, in words; nil when nothing is.
---@param options table
---@return string?
function M.problem(options)
  if type(options) ~= "table" then
    return "setup takes a table"
  end
  for name, value in vim.spairs(options) do
    local wanted = type(M.defaults[name])
    if wanted == "nil" then
      return ("unknown option %s; use one of %s"):format(tostring(name), table.concat(vim.fn.sort(vim.tbl_keys(M.defaults)), ", "))
    elseif type(value) ~= wanted then
      return ("the option %s is a %s, not a %s"):format(name, wanted, type(value))
    end
  end
  if options.layout and not vim.tbl_contains({ "tab", "split", "float" }, options.layout) then
    return ('the option layout is "tab", "split" or "float", not "%s"'):format(options.layout)
  end
end

---@param options? table
function M.set(options)
  options = options or {}
  local problem = M.problem(options)
  if problem then
    error("pillion: " .. problem, 0)
  end
  M.current = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), options)
  M.current.root_markers = options.root_markers or M.defaults.root_markers -- a list is replaced, not merged
end

--- The settings object as JSON needs it: an empty table alone would be written as a list.
function M.settings()
  local function object(value)
    return vim.tbl_isempty(value) and vim.empty_dict() or value
  end
  local settings = vim.deepcopy(M.current.settings)
  for _, name in ipairs({ "permissions", "approvals", "limits" }) do
    if type(settings[name]) == "table" then
      settings[name] = object(settings[name])
    end
  end
  return object(settings)
end

return M
