package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a skill only its front matter is understood, and that has to be whole.
func TestFrontMatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\nname: x\ndescription: d\n---\n":                                 "d",
		"\ufeff---\r\nname: x\r\ndescription: >\r\n  a\r\n  b\r\n---\r\ntext": "a b",
		"---\nname: x\ndescription: d\nlicense: MIT\nmetadata: {a: [1]}\n---": "d",
		"---\nname: x\ndescription: d":                                        "", "": "", "---\n---\n": "", "---\nname: x\n---\n": "", "---\n- x\n---\n": "",
		"---\nname: x\ndescription: [d]\n---\n": "", "---\nname: y\ndescription: d\n---\n": "", "---\nname: x\nname: x\ndescription: d\n---\n": "",
		"---\nname: x\ndescription: " + strings.Repeat("d", maxDescription+1) + "\n---\n":                     "",
		"---\nname: x\ndescription: d\n#" + strings.Repeat("c", maxFront) + "\n---\n":                         "",
		"---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a]\nname: x\ndescription: d\nc: [*b,*b,*b,*b]\n---\n": "d",
	} {
		if got, err := describe("x", text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// A folder may have very many, and one that is no folder has a problem.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range maxSkills + 5 {
		name := fmt.Sprintf("s%d", i)
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: d\n---\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := Outside("~/s", dir, "")
	if len(found) != maxSkills+1 || found[maxSkills].Problem == "" || found[0].Description != "d" || found[0].File != filepath.Join(real(t, dir), "s0", "SKILL.md") {
		t.Errorf("%d found, first %+v, last %+v", len(found), found[0], found[len(found)-1])
	}
	if one := Outside("~/s", dir, "s204"); len(one) != 1 || one[0].Name != "s204" || one[0].Problem != "" {
		t.Errorf("by name: %+v", one)
	}
	for _, name := range []string{"../s1", "s1/", ".", "S1", "none"} {
		if found := Outside("~/s", filepath.Join(dir, "s0"), name); found != nil {
			t.Errorf("%s gives %+v", name, found)
		}
	}
	if found := Outside("~/s", filepath.Join(dir, "s0", "SKILL.md"), ""); len(found) != 1 || found[0].Problem == "" {
		t.Errorf("a file gives %+v", found)
	}
	if found := Outside("~/s", filepath.Join(dir, "none"), ""); found != nil {
		t.Errorf("no folder gives %+v", found)
	}
}

func real(t *testing.T, dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// FuzzDescribe: no text ends the program, and what is found is bounded.
func FuzzDescribe(f *testing.F) {
	f.Add("---\nname: x\ndescription: d\n---\n")
	f.Add("---\na: &a [*a]\nname: !!binary x\ndescription: |2-\n  y\n---\n")
	f.Add("---\n? {[&x *y: ]\n---")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := describe("x", text); err == nil && (got == "" || len(got) > 4*maxDescription || strings.Contains(got, "\n")) {
			t.Errorf("%q has the description %q", text, got)
		}
	})
}
