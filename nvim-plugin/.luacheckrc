std = "luajit"
globals = { "vim" }
self = false
max_line_length = false
