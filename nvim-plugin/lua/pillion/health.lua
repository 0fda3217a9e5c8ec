-- `:checkhealth pillion`: what `pillion doctor --json` finds on this machine, and how this Neovim stands to it.

local M = {}

--- For the doctor, which runs programs' `--version`.
local doctor_ms = 60000

---@class pillion.Finding
---@field id string group.name
---@field title string
---@field status "ok"|"info"|"missing"|"warning"|"error"
---@field detail string
---@field hint? string

---@class pillion.Report
---@field version string
---@field findings pillion.Finding[]

local titles = {
  pillion = "the program",
  folder = "this folder",
  language = "languages",
  program = "other programs",
  system = "the system",
  editor = "editors",
  agent = "agents",
}

--- A part of the plugin, or nil and what is wrong with it: health must tell of what is broken, and not break with it.
---@param name string
---@return any part, string? problem
local function part(name)
  local ok, it = pcall(require, "pillion." .. name)
  if ok then
    return it
  end
  return nil, vim.split(tostring(it), "\n")[1]
end

local function neovim()
  vim.health.start("pillion: Neovim")
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 0 then
    vim.health.error(version .. " is too old", { "install Neovim 0.10 or newer" })
  else
    vim.health.ok(version)
  end
  for _, name in ipairs({ "config", "locator", "client", "documents", "languages", "ui" }) do
    local _, problem = part(name)
    if problem then
      vim.health.error(("the plugin's %s cannot be loaded: %s"):format(name, problem))
    end
  end
end

---@param client pillion.Client
---@param documents? { all: fun(owner: pillion.Client): { buffer: integer }[] }
local function one_client(client, documents)
  local root = vim.fn.fnamemodify(client.root, ":~")
  local text = ("%s: %s"):format(root, client.state)
  if client.state == "ready" then
    local count = documents and #documents.all(client)
    vim.health.ok(
      text
        .. (client.version and ", pillion " .. client.version or "")
        .. (count and (", %d open %s"):format(count, count == 1 and "file" or "files") or "")
    )
    local tracking = part("tracking")
    local late = tracking and tracking.line(client)
    if late then
      vim.health.warn(late, { "this only costs time when many files change at once" })
    end
    local index = tracking and tracking.index_line(client)
    if index then
      vim.health.info(index)
    end
  elseif client.state == "failed" then
    vim.health.error(
      text .. ": " .. (client.problem or "for an unknown reason"),
      { ":Pillion log says more", ":Pillion restart tries again" }
    )
  else
    vim.health.warn(text, { ":Pillion restart starts it" })
  end
end

local function clients()
  local client, documents = part("client"), part("documents")
  if not client then
    return
  end
  local count = 0
  client.each(function(one)
    count = count + 1
    one_client(one, documents)
  end)
  if count == 0 then
    vim.health.warn("no sidecar runs in this Neovim", { ":Pillion restart starts it, except in your home folder" })
  end
end

--- The language servers of the files that sidecars know, by their languages.
---@return table<string, { files: integer, names: table<string, boolean> }>
local function attached()
  local languages, documents = part("languages"), part("documents")
  local found = {}
  for _, document in ipairs(languages and documents and documents.all() or {}) do
    local language = vim.bo[document.buffer].filetype
    found[language] = found[language] or { files = 0, names = {} }
    found[language].files = found[language].files + 1
    for _, server in ipairs(languages.servers({ bufnr = document.buffer })) do
      found[language].names[server.name] = true
    end
  end
  return found
end

local function servers()
  vim.health.start("pillion: your language servers")
  local without = {}
  local any = false
  for language, its in vim.spairs(attached()) do
    local names = vim.fn.sort(vim.tbl_keys(its.names))
    if #names > 0 then
      any = true
      local files = its.files == 1 and "1 open file" or its.files .. " open files"
      vim.health.ok(("%s: %s, in %s; asked before Pillion's own"):format(language, table.concat(names, ", "), files))
    elseif language ~= "" then
      without[#without + 1] = language
    end
  end
  if #without > 0 then
    vim.health.info("none is attached to open files in " .. table.concat(without, ", "))
  elseif not any then
    vim.health.info("none is attached to an open file; Pillion uses its own")
  end
end

--- The program that this plugin would start.
---@return string? path, string? problem
local function program()
  local config, locator = part("config"), part("locator")
  if not config or not locator then
    return nil, "the plugin cannot search for the program: see above"
  end
  local located = locator.locate(config.current.path)
  return located.path, located.problem
end

---@param path string
---@return pillion.Report? report, string? problem
local function examine(path)
  local ok, job = pcall(vim.system, { path, "doctor", "--json", "-C", vim.fn.getcwd() }, { text = true, timeout = doctor_ms })
  if not ok then
    return nil, ("%s cannot be run: %s"):format(path, job)
  end
  local done = job:wait()
  local read, report = pcall(vim.json.decode, done.stdout or "", { luanil = { object = true } })
  if not read or type(report) ~= "table" or type(report.findings) ~= "table" then
    return nil, ("cannot read what %s doctor printed (exit code %d): %s"):format(path, done.code, vim.trim(done.stderr or ""))
  end
  return report
end

function M.check()
  neovim()
  clients()
  servers()
  local path, problem = program()
  local report ---@type pillion.Report?
  if path then
    report, problem = examine(path)
  end
  if not report then
    vim.health.start("pillion: the program")
    vim.health.error(problem or "it is not found")
    return
  end
  local group ---@type string?
  for _, finding in ipairs(report.findings) do
    local its = finding.id:match("^[^.]*")
    if its ~= group then
      group = its
      vim.health.start("pillion: " .. (titles[group] or group))
    end
    local text = finding.title .. ": " .. finding.detail
    if finding.status == "info" and finding.hint then
      text = ("%s (%s)"):format(text, finding.hint)
    end
    local tell = vim.health[finding.status] or vim.health.warn
    tell(text, finding.hint and { finding.hint } or nil) -- "ok" and "info" take no advice
  end
end

return M
