if not vim.g.loaded_pillion and vim.fn.has("nvim-0.10") == 1 then
  vim.g.loaded_pillion = true
  require("pillion.entry")
end
