package search_test

import (
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/search"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct{ glob, matches, not string }{
		{"*.go", "a.go .go x/a.go x/y/a.go", "a.go/x a.goo a_go"},
		{"a", "a x/a", "a/x b"},
		{"/a", "a", "x/a a/x"},
		{"./a", "a", "x/a"},
		{"src/*.go", "src/a.go", "x/src/a.go src/x/a.go"},
		{"/src/*.go", "src/a.go", "x/src/a.go"},
		{"src/**", "src/a src/x/a", "src x/src/a"},
		{"src/**/a", "src/a src/x/a src/x/y/a", "src/xa a"},
		{"**/a", "a x/a x/y/a", "xa a/x"},
		{"**", "a x/a", ""},
		{"**.go", "a.go x/a.go", "a.goo"},
		{"x/**.go", "x/a.go", "x/y/a.go a.go"},
		{"x**/a", "x/a xy/a", "x/y/a"},
		{"src/", "src/a src/x/y x/src/a", "src srcs/a"},
		{"/src/", "src/a", "x/src/a"},
		{"a/src/", "a/src/b", "src/b x/a/src/b"},
		{"?.go", "a.go é.go 😀.go x/é.go", ".go ab.go"},
		{"a?b", "aéb", "a/b ab"},
		{"[ab]", "a b x/a", "c ab"},
		{"[!ab]", "c é x/c", "a b"},
		{"[^a-c]x", "dx éx", "ax /x"},
		{"a[!x]b", "ayb", "a/b axb"},
		{"a[.-0]b", "a.b a0b", "a/b"},
		{"a[/]b", "a[/]b", "a/b"},
		{"app/[id]/page.tsx", "app/[id]/page.tsx app/i/page.tsx", "app/id/page.tsx"},
		{"**/[id]/**", "app/[id]/page.tsx [id]/x app/d/x", "app/id/x"},
		{"app/(group)/[...slug]/*.ts", "app/(group)/[...slug]/a.ts", "app/(group)/slug/a.ts"},
		{"[[...slug]]/*", "[[...slug]]/a", "slug/a"},
		{"{{name}}/*.py", "{{name}}/a.py name/a.py", "x/a.py"},
		{"{{name}}/x.py", "{{name}}/x.py name/x.py", ""},
		{"what?.md", "what?.md whats.md", "what.md"},
		{"[]a]", "] a", "b"},
		{"[a-]", "a -", "b"},
		{`[\]]`, "]", `\`},
		{"[α-ω]", "β", "b"},
		{"*.{ts,tsx}", "a.ts x/a.tsx", "a.t a.tsxx"},
		{"{a,b/c}", "a b/c", "x/a c"},
		{"{src,test}/**/*.{go,mod}", "src/a.go test/x/go.mod", "other/a.go"},
		{"a{,b}", "a ab", "b"},
		{"a{b{c,d},e}", "abc abd ae", "ab"},
		{"{**/a,b}/c", "a/c x/a/c b/c", "x/b/c"},
		{"a{x/**,b}", "ax/y/z ab", "ax"},
		{`\*`, "* x/*", "a"},
		{`\{a,b}c`[:2], "{", "a"},
		{`a\,b`, "a,b", "ab"},
		{"a,b", "a,b", "a b"},
		{"a.b", "a.b", "axb"},
		{"a+(b)$^|", "a+(b)$^|", "aab"},
		{`\!a`, "!a", "a b"},
		{"!a", "b x/b ab", "a x/a a/b x/a/b"},
		{"!a/", "b", "a a/b x/a/b"},
		{"!/a", "b x/a", "a a/b"},
		{"!*.go", "a.c", "a.go x/a.go"},
		{"!a/b", "a x/a/b", "a/b a/b/c"},
		{"A", "A", "a"},
		{"*", "\xff \x01\x02", ""},
		{"\u202e*", "\u202ea", "a"},
	} {
		match, err := search.CompileGlob(test.glob)
		if err != nil {
			t.Errorf("%q: %v", test.glob, err)
			continue
		}
		for _, name := range strings.Fields(test.matches) {
			if !match(name) {
				t.Errorf("%q does not match %q", test.glob, name)
			}
		}
		for _, name := range strings.Fields(test.not) {
			if match(name) {
				t.Errorf("%q matches %q", test.glob, name)
			}
		}
	}
}

func TestWrongGlobs(t *testing.T) {
	for glob, say := range map[string]string{
		"":                        "matches nothing",
		"/":                       "matches nothing",
		"!":                       "matches nothing",
		"!./":                     "matches nothing",
		"src/[a":                  `at character 5: "[" is not closed`,
		"[":                       `at character 1: "[" is not closed`,
		"[]":                      `at character 1: "[" is not closed`,
		"!é/{a,b":                 `at character 4: "{" is not closed`,
		"./a}":                    `at character 4: "}" closes nothing`,
		`a\`:                      "at character 2: nothing comes after the backslash",
		"x[z-a]":                  "at character 2: the range z-a goes backwards; write a-z",
		`[a\`:                     `at character 1: "[" is not closed`,
		strings.Repeat("a", 1001): "longer than 1000 bytes",
	} {
		_, err := search.CompileGlob(glob)
		if fault.CodeOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

func TestAnHostileGlobCostsLittle(t *testing.T) {
	match, err := search.CompileGlob(strings.Repeat("{*,?}a", 100) + "b")
	machine.Must(t, err)
	if match(strings.Repeat("a", 4000)) {
		t.Error("matched")
	}
}

func FuzzCompileGlob(f *testing.F) {
	for _, seed := range []string{"*.go", "!a/{b,c}/**", "[!a-z]\\x", "**/**", "{{,}", "[[:alpha:]]"} {
		f.Add(seed, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		match, err := search.CompileGlob(pattern)
		if err == nil {
			match(name)
		} else if fault.CodeOf(err) != fault.InvalidArguments || strings.Contains(err.Error(), "too involved") {
			t.Errorf("%q: %v", pattern, err)
		}
	})
}
