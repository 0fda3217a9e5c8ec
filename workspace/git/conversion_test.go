package git_test

import (
	"fmt"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// Line ends, attributes and keywords: what git would store is what counts.
func TestConversion(t *testing.T) {
	const crlf, lf, mixed = "one\r\ntwo\r\nthree\r\n", "one\ntwo\nthree\n", "one\r\ntwo\nthree\r\n"
	contents := map[string]string{
		"crlf": crlf, "lf": lf, "mixed": mixed, "lone-cr": "one\rtwo\r\n", "nul": "one\r\n\x00\r\n",
		"controls": strings.Repeat("\x01", 10) + crlf, "dos-eof": crlf + "\x1a", "empty": "",
	}
	attributes := []string{
		"", "* text=auto\n", "* text\n", "* -text\n", "* text=input\n", "* eol=crlf\n", "* eol=lf\n", "* text=auto eol=lf\n", "* text=auto eol=crlf\n",
		"* crlf\n", "* crlf=input\n", "* -crlf\n", "* text\n* !text\n", "* binary\n", "* text -diff\n", "* diff\n",
		"* text=auto\n*.x eol=crlf\n[attr]mine text diff\n/dir/** mine\nlf.* -text\n",
	}
	for i, attrs := range attributes {
		for _, autocrlf := range []string{"", "true", "input"} {
			t.Run(fmt.Sprint(i, autocrlf), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				for name, text := range contents {
					for _, place := range places(name) {
						r.write(place, text)
						r.write("over-crlf/"+place, "old\r\n")
						r.write("over-lf/"+place, "old\n")
					}
				}
				r.commit() // as the bytes are, before there are attributes
				if attrs != "" {
					r.write(".gitattributes", attrs)
				}
				if autocrlf != "" {
					r.git("config", "core.autocrlf", autocrlf)
				}
				for name, text := range contents {
					for _, place := range places(name) {
						r.write(place, text+"more\r\n")
						r.write("over-crlf/"+place, text)
						r.write("over-lf/"+place, text)
						r.write("new/"+place, text)
					}
				}
				r.git("add", "-N", "new")
				r.same(git.DiffOptions{Context: 3})
				r.same(git.DiffOptions{Context: 3, Base: "HEAD"})
			})
		}
	}
}

// places are the paths at which TestConversion has each content: one for every
// rule of its last attributes.
func places(name string) []string { return []string{name, name + ".x", "dir/" + name} }

func TestAttributePatterns(t *testing.T) {
	paths := []string{
		"a.txt", "b.TXT", "dir/a.txt", "dir/sub/a.txt", "dir/sub/deep/a.txt", "other/dir/a.txt", "[x].txt", "star*.txt", "q?.txt",
		"with space.txt", "é.txt", "x1.c", "x12.c", "foo-bar", "foo/bar", "-", "dir.txt/a",
	}
	patterns := []string{
		"*.txt", "a.txt", "/a.txt", "dir/a.txt", "dir/*.txt", "dir/**", "**/a.txt", "dir/**/a.txt", "*/a.txt", "dir/", "dir", "**/sub/**", "**", "*",
		"x[0-9].c", "x[!0-9]*.c", "x??.c", "[[:alpha:]]*.txt", `\[x\].txt`, `star\*.txt`, `"with space.txt"`, `"\303\251.txt"`, "foo*bar", "foo**bar",
		"foo/**bar", "[a-b].txt", "[]-]", "[", "dir/*/a.txt", "*.[tT][xX][tT]", "/**/a.txt", "**/dir/a.txt", "!a.txt",
	}
	t.Parallel()
	r := newRig(t)
	for _, p := range paths {
		r.write(p, "1\n")
	}
	r.commit()
	for _, p := range paths {
		r.write(p, "2\n")
	}
	for _, pattern := range patterns {
		r.write(".gitattributes", pattern+" -diff\n")
		r.same(git.DiffOptions{Context: 3})
	}
	r.write(".gitattributes", "*.txt -diff\n")
	r.write("dir/.gitattributes", "a.txt diff\nsub/*.txt !diff\n")
	r.same(git.DiffOptions{Context: 3})
	r.write(".git/info/attributes", "a.txt -diff\n")
	r.same(git.DiffOptions{Context: 3})
	r.write("user-attributes", "* -diff\n")
	r.git("config", "core.attributesFile", r.path("user-attributes"))
	r.same(git.DiffOptions{Context: 3})
}

// A .gitattributes file that is gone from the work tree counts as it is in the
// index.
func TestAttributesFromTheIndex(t *testing.T) {
	r := newRig(t)
	r.write(".gitattributes", "*.bin -diff\n")
	r.write("a.bin", "1\n")
	r.commit()
	r.remove(".gitattributes")
	r.write("a.bin", "2\n")
	r.same(git.DiffOptions{Context: 3})
}

func TestIdent(t *testing.T) {
	r := newRig(t)
	r.write(".gitattributes", "*.c ident\n")
	r.write("a.c", "/* $Id$ */\none\n")
	r.commit()
	r.write("a.c", "/* $Id: 0123456789 $ $Id: no\n end$ */\ntwo\n")
	r.same(git.DiffOptions{Context: 3})
}

// Git LFS stores a pointer. Its filter is a program, but one whose answer is
// known; a file that was only touched has not changed.
func TestLFS(t *testing.T) {
	r := newRig(t)
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
	// printf hello | sha256sum
	r.write("a.bin", fmt.Sprintf(pointer, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", 5))
	r.write("b.bin", fmt.Sprintf(pointer, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", 5))
	r.commit()
	r.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	r.write("a.bin", "hello")
	r.write("b.bin", "hello!")
	got, err := r.diff(git.DiffOptions{Context: 0})
	if err != nil {
		t.Fatal(err)
	}
	if got.FilesChanged != 1 || got.Files[0].Path != "b.bin" || !strings.Contains(got.Diff, "-size 5\n+oid sha256:ce06092fb948d9ffac7d1a376e404b26b7575bcc11ee05a4615fef4fec3a308b\n+size 6\n") {
		t.Errorf("got %+v\n%s", got.Files, got.Diff)
	}
}
