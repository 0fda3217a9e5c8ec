if vim.g.loaded_pillion == 1 or vim.fn.has("nvim-0.10") == 0 then
  return
end
vim.g.loaded_pillion = 1
