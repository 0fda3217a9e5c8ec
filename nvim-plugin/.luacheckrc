std = "luajit"
globals = { "vim" }
self = false
max_code_line_length = 150
max_string_line_length = false
max_comment_line_length = 150
