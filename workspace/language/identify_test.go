package language

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct{ editor, name, text, want string }{
		{"", "a.py", "", "python"},
		{"", "A.PYI", "", "python"},
		{"", "main.go", "", "go"},
		{"", "x.tsx", "", "typescriptreact"},
		{"", "x.d.ts", "", "typescript"},
		{"", "Makefile", "", "makefile"},
		{"", "tsconfig.json", "", "jsonc"},
		{"", ".bashrc", "", "shellscript"},
		{"", "notes", "#! not a script", ""},
		{"", "notes", "hello", ""},
		{"", "README", "", ""},
		{"", "run", "#!/bin/sh\necho\n", "shellscript"},
		{"", "run", "#!/bin/bash -eu\r\necho\r\n", "shellscript"},
		{"", "run", "#! /usr/bin/env python3\n", "python"},
		{"", "run", "#!/usr/bin/env -S LANG=C python3.11 -u\n", "python"},
		{"", "run", "\ufeff#!/usr/bin/python\n", "python"},
		{"", "run", "#!/usr/bin/env -S uv run --script\n", "python"},
		{"", "run", "#!", ""},
		{"", "run", "#!/usr/bin/env\n", ""},
		{"", "run.py", "#!/bin/sh\n", "python"}, // the name comes first
		{"plaintext", "a.py", "", "python"},     // an editor that does not know
		{"text", "run", "#!/bin/sh\n", "shellscript"},
		{"sh", "x", "", "shellscript"},
		{"bash", "x.py", "", "shellscript"}, // one that does
		{"typescript.tsx", "x", "", "typescriptreact"},
		{"Rust", "x", "", "rust"},
		{"brainfuck", "x.py", "", "brainfuck"},
	} {
		if got := Of(c.editor, c.name, c.text); got != c.want {
			t.Errorf("Of(%q, %q, %q) = %q, want %q", c.editor, c.name, c.text, got, c.want)
		}
	}
}
