-- What the sidecar knows of open files. Their text is kept in step here and not by vim.lsp, whose versions start at 0, which
-- waits before it tells of a change, and which does not see another line end, another name or a missing final newline. A
-- state (`document/state`, what LSP does not say) always follows the change whose version it names.
--
-- Changes of one moment are told together, as soon as Neovim is idle; `flush` tells them at once.

local client = require("pillion.client")

local api = vim.api

local M = {}

--- Frames are capped at 32 MiB. A larger file is edited on disk alone.
local maximum_bytes = 16 * 1024 * 1024
--- A text that can only be told as a whole is told less often when it is long.
local large_bytes = 256 * 1024
local large_delay_ms = 100

local line_ends = { unix = "\n", dos = "\r\n", mac = "\r" }

---@class pillion.Document
---@field buffer integer
---@field client pillion.Client
---@field path string as it was opened
---@field uri string
---@field version integer
---@field tick integer b:changedtick at that version
---@field shape string what of the text is no line: ends, the final newline
---@field bytes integer about
---@field stray boolean whether some line has a carriage return inside, which LSP takes for a line end
---@field pending? { first: integer, last: integer, now: integer } lines first to last became first to now
---@field scheduled boolean
---@field held boolean nothing is told for now
---@field reported? string
---@field closed boolean

---@type table<integer, pillion.Document[]> by buffer; a file may lie in more than one workspace
local documents = {}

--- A buffer without a single line, not even an empty one: a file of no bytes.
---@param buffer integer
---@param lines string[]
local function is_empty(buffer, lines)
  return #lines == 1 and lines[1] == "" and api.nvim_buf_call(buffer, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

---@param buffer integer
function M.line_end(buffer)
  return line_ends[vim.bo[buffer].fileformat]
end

--- The text that writing the buffer would give, but for what 'fixendofline' adds.
---@param buffer integer
---@return string text, string[] lines
function M.text(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, true)
  if is_empty(buffer, lines) then
    return "", lines
  end
  local ending = M.line_end(buffer)
  return table.concat(lines, ending) .. (vim.bo[buffer].endofline and ending or ""), lines
end

---@param lines string[]
---@param fileformat string
local function has_stray(lines, fileformat)
  for _, line in ipairs(lines) do
    local at = line:find("\r", 1, true)
    if at and (fileformat ~= "unix" or at < #line) then
      return true
    end
  end
  return fileformat == "mac"
end

---@param buffer integer
---@param lines string[]?
local function shape(buffer, lines)
  local options = vim.bo[buffer]
  lines = lines or api.nvim_buf_line_count(buffer) == 1 and api.nvim_buf_get_lines(buffer, 0, 1, true) or {}
  return ("%s %s %s"):format(options.fileformat, tostring(options.endofline), tostring(is_empty(buffer, lines)))
end

--- Whether a line range says all of a change. Without a final newline there is no line after the last to count to.
---@param document pillion.Document
local function is_plain(document)
  return not document.stray and document.shape:match(" true false$") ~= nil
end

---@param buffer integer
---@param path string
function M.is_readonly(buffer, path)
  local options = vim.bo[buffer]
  local is_writable = vim.uv.fs_access(path, "W") or not vim.uv.fs_stat(path)
  return options.readonly or not options.modifiable or not is_writable
end

--- Names of encodings that mean something else to Neovim, or that the sidecar does not know.
---@type table<string, string>
local encodings = {
  [""] = "utf-8",
  ["ucs-2"] = "utf-16be",
  ["ucs-2be"] = "utf-16be",
  ["ucs-2le"] = "utf-16le",
  ["utf-16"] = "utf-16be",
  cp932 = "shift_jis",
  cp949 = "euc-kr",
  ["euc-cn"] = "gbk",
  cp936 = "gbk",
  ["euc-tw"] = "big5",
  cp874 = "windows-874",
}

--- Tells what LSP does not, when it is new.
---@param document pillion.Document
local function tell(document)
  local options = vim.bo[document.buffer]
  local encoding = options.fileencoding:lower()
  local state = {
    uri = document.uri,
    version = document.version,
    dirty = options.modified,
    encoding = encodings[encoding] or encoding,
    eol = options.fileformat == "dos" and "\r\n" or "\n",
    bom = options.bomb,
    readonly = M.is_readonly(document.buffer, document.path),
  }
  -- A clean state is told again for a new version: who sees a change come in takes the document for dirty.
  local known = vim.inspect(vim.tbl_extend("force", state, { version = state.dirty and 0 or state.version }))
  if document.reported ~= known and document.client.notify("document/state", state) then
    document.reported = known
  end
end

---@param document pillion.Document
---@param change table
local function send_change(document, change)
  document.version = document.version + 1
  document.client.notify("textDocument/didChange", {
    textDocument = { uri = document.uri, version = document.version },
    contentChanges = { change },
  })
end

---@param document pillion.Document
local function send_whole(document)
  local text, lines = M.text(document.buffer)
  document.shape, document.bytes = shape(document.buffer, lines), #text
  document.stray = has_stray(lines, vim.bo[document.buffer].fileformat)
  send_change(document, { text = text })
end

---@param document pillion.Document
---@param pending { first: integer, last: integer, now: integer }
local function send_lines(document, pending)
  local fine, lines = pcall(api.nvim_buf_get_lines, document.buffer, pending.first, pending.now, true)
  if not fine or has_stray(lines, vim.bo[document.buffer].fileformat) then
    send_whole(document)
    return
  end
  local ending = M.line_end(document.buffer)
  local text = #lines > 0 and table.concat(lines, ending) .. ending or ""
  document.bytes = document.bytes + #text
  send_change(document, {
    range = { start = { line = pending.first, character = 0 }, ["end"] = { line = pending.last, character = 0 } },
    text = text,
  })
end

--- Tells at once whatever is new of a document.
---@param document pillion.Document
function M.flush(document)
  if document.closed or document.held or not api.nvim_buf_is_loaded(document.buffer) then
    return
  end
  local pending, now = document.pending, shape(document.buffer)
  document.pending = nil
  if document.shape ~= now or pending and not is_plain(document) then
    send_whole(document)
  elseif pending then
    send_lines(document, pending)
  end
  document.tick = vim.b[document.buffer].changedtick
  tell(document)
end

--- After a change that Neovim may not have told of: it tells of none while the effect of a command is shown as it is typed
--- ('inccommand').
---@param document pillion.Document
function M.suspect(document)
  if not document.pending and document.tick ~= vim.b[document.buffer].changedtick then
    document.shape = ""
  end
end

--- Reads a buffer anew, or whatever else `step` does to it. Where the text is the same afterwards nothing changed.
---@param buffer integer
---@param step fun()
function M.hold(buffer, step)
  local all = documents[buffer] or {}
  for _, document in ipairs(all) do
    M.flush(document)
    document.held = true
  end
  local before = #all > 0 and M.text(buffer)
  step()
  for _, document in ipairs(all) do
    document.held = false
    if not document.closed and api.nvim_buf_is_loaded(buffer) then
      if M.text(buffer) == before then
        document.pending, document.shape = nil, shape(buffer)
      end
      M.flush(document)
    end
  end
end

---@param document pillion.Document
local function schedule(document)
  if document.scheduled then
    return
  end
  document.scheduled = true
  local slow = not is_plain(document) and document.bytes > large_bytes
  vim.defer_fn(function()
    document.scheduled = false
    if not document.closed then
      M.consider(document.buffer)
    end
  end, slow and large_delay_ms or 0)
end

--- Adds a change of lines to those that are not told yet. All line numbers are from 0, ends excluded.
---@param pending? { first: integer, last: integer, now: integer }
---@return { first: integer, last: integer, now: integer }
function M.join(pending, first, last, now)
  if not pending then
    return { first = first, last = last, now = now }
  end
  local beyond = math.max(0, last - pending.now)
  return {
    first = math.min(pending.first, first),
    last = pending.last + beyond,
    now = pending.now + beyond + now - last,
  }
end

---@param document pillion.Document
local function forget(document)
  document.closed = true
  local rest = vim.tbl_filter(function(other)
    return other ~= document
  end, documents[document.buffer] or {})
  documents[document.buffer] = #rest > 0 and rest or nil
end

---@param document pillion.Document
function M.close(document)
  if not document.closed then
    forget(document)
    document.client.notify("textDocument/didClose", { textDocument = { uri = document.uri } })
  end
end

---@param document pillion.Document
local function follow(document)
  return api.nvim_buf_attach(document.buffer, false, {
    on_lines = function(_, _, _, first, last, now)
      if document.closed then
        return true
      end
      document.pending = M.join(document.pending, first, last, now)
      if api.nvim_buf_line_count(document.buffer) == 1 then
        document.shape = "" -- a buffer that lost its last line still shows one, and counts of lines go wrong
      end
      schedule(document)
    end,
    on_changedtick = function()
      if document.closed then
        return true
      end
      schedule(document)
    end,
    on_reload = function()
      if not document.closed then
        document.shape = "" -- nothing is known of what changed
        schedule(document)
      end
    end,
    on_detach = function()
      M.close(document)
    end,
  })
end

--- The name of a file, that may be gone, without links in the names of its folders; nil where those are gone.
---@param name string
---@return string?
function M.real(name)
  local folder = vim.uv.fs_realpath(vim.fs.dirname(name))
  return folder and vim.fs.joinpath(folder, vim.fs.basename(name))
end

--- What a file looks like from outside.
---@param path string
function M.looks(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%d.%d %d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino) or "gone"
end

--- Loaded buffers on a file.
---@param path string
---@return integer[]
function M.buffers_on(path)
  return vim.tbl_filter(function(buffer)
    local name = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and api.nvim_buf_get_name(buffer) or ""
    return name ~= "" and (name == path or vim.uv.fs_realpath(name) == path)
  end, api.nvim_list_bufs())
end

--- The name of a buffer's file as the workspace spells it; nil when it lies elsewhere.
---@param buffer integer
---@param root string
---@return string?
local function path_in(buffer, root)
  local name = api.nvim_buf_get_name(buffer)
  if client.is_below(name, root) then
    return name
  end
  local real = M.real(name)
  return real and client.is_below(real, root) and real or nil
end

--- Whether a buffer is a file's text.
---@param buffer integer
local function is_file(buffer)
  if not api.nvim_buf_is_loaded(buffer) or vim.bo[buffer].buftype ~= "" or vim.bo[buffer].binary then
    return false
  end
  local name = api.nvim_buf_get_name(buffer)
  return name ~= "" and not name:match("^%a[%w+.-]+://") and vim.fn.isdirectory(name) == 0
end

---@param buffer integer
---@param owner pillion.Client
---@param path string
local function open(buffer, owner, path)
  local text, lines = M.text(buffer)
  if #text > maximum_bytes then
    return
  end
  ---@type pillion.Document
  local document = {
    buffer = buffer,
    client = owner,
    path = path,
    uri = vim.uri_from_fname(path),
    version = 1,
    tick = vim.b[buffer].changedtick,
    shape = shape(buffer, lines),
    bytes = #text,
    stray = has_stray(lines, vim.bo[buffer].fileformat),
    scheduled = false,
    held = false,
    closed = false,
  }
  if not follow(document) then
    return
  end
  documents[buffer] = documents[buffer] or {}
  table.insert(documents[buffer], document)
  owner.notify("textDocument/didOpen", {
    textDocument = { uri = document.uri, languageId = vim.bo[buffer].filetype, version = 1, text = text },
  })
  tell(document)
end

--- Opens, closes or renames what the sidecars know of a buffer.
---@param buffer integer
function M.consider(buffer)
  local file = is_file(buffer)
  client.each(function(owner)
    local path = file and path_in(buffer, owner.root) or nil
    local known = M.of(buffer, owner)
    if known and known.path ~= path then
      M.close(known)
      known = nil
    end
    if path and not known and owner.state == "ready" then
      open(buffer, owner, path)
    elseif known then
      M.flush(known)
    end
  end)
end

---@param buffer integer
---@param owner pillion.Client
---@return pillion.Document?
function M.of(buffer, owner)
  return vim.iter(documents[buffer] or {}):find(function(document)
    return document.client == owner
  end)
end

---@param uri string
---@param owner pillion.Client
---@return pillion.Document?
function M.find(uri, owner)
  local path = vim.uri_to_fname(uri)
  return vim.iter(M.all(owner)):find(function(document)
    return document.uri == uri or document.path == path
  end)
end

---@param owner? pillion.Client
---@return pillion.Document[]
function M.all(owner)
  local out = {} ---@type pillion.Document[]
  for _, all in vim.spairs(documents) do
    for _, document in ipairs(all) do
      if document.client == (owner or document.client) then
        out[#out + 1] = document
      end
    end
  end
  return out
end

function M.setup()
  local on = require("pillion.events").on("documents")
  on({ "BufReadPost", "BufNewFile", "BufFilePost", "BufModifiedSet", "BufEnter", "BufWinEnter" }, function(event)
    M.consider(event.buf)
  end)
  on("CmdlineEnter", function()
    for _, document in ipairs(M.all()) do
      document.tick = document.pending and document.tick or vim.b[document.buffer].changedtick
    end
  end)
  on("CmdlineLeave", function()
    for _, document in ipairs(M.all()) do
      M.suspect(document)
      schedule(document)
    end
  end)
  on("BufWritePost", function(event)
    local options = vim.bo[event.buf]
    if not options.endofline and options.fixendofline and not options.binary then
      options.endofline = true -- what was written has it, and Neovim keeps saying that it has not
    end
    M.consider(event.buf)
    for _, document in ipairs(documents[event.buf] or {}) do
      document.client.notify("textDocument/didSave", { textDocument = { uri = document.uri } })
    end
  end)
  on("OptionSet", function()
    vim.tbl_map(schedule, M.all())
  end, { pattern = { "modified", "readonly", "modifiable", "fileencoding", "fileformat", "bomb", "endofline", "binary", "buftype" } })
  on({ "FocusGained", "CursorHold", "FileChangedShellPost" }, function()
    vim.tbl_map(M.flush, M.all())
  end)
  client.before_request = function(owner)
    for _, document in ipairs(M.all(owner)) do
      if document.pending then
        M.flush(document)
      end
    end
  end
end

--- A sidecar that has just started knows nothing yet; of one that is gone nothing is left to tell.
client.on_state(function(owner)
  for _, document in ipairs(M.all(owner)) do
    if owner.state ~= "ready" then
      forget(document)
    end
  end
  if owner.state == "ready" then
    for _, buffer in ipairs(api.nvim_list_bufs()) do
      M.consider(buffer)
    end
  end
end)

return M
