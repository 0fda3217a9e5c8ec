-- What lazy.nvim runs after it installed or updated the plugin.
require("pillion.obtain").build()
