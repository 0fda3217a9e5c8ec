package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestFresh fails when a generated file is not what would be generated now.
func TestFresh(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run make generate, and read the difference: it is what agents or people see of the change", name)
		}
	}
	old, err := snapshots(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if files[name] == nil {
			t.Errorf("%s is of a tool that there is no more: run make generate", name)
		}
	}
}

var fillTools = marked(toolTable)

func TestFillKeepsTheProse(t *testing.T) {
	doc := "before\n<!-- generated: arguments of read_file -->\nold table\n<!-- end of generated -->\nafter\n"
	got, err := fillTools(root, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	again, err := fillTools(root, got)
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("generating twice differs: %v\n%s", err, again)
	}
	text := string(got)
	if !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter\n") || strings.Contains(text, "old table") ||
		!strings.Contains(text, "| **`path`** | string |") {
		t.Errorf("filled in wrongly:\n%s", text)
	}
}

func TestFillRefusesBrokenMarkers(t *testing.T) {
	for _, doc := range []string{
		"<!-- generated: arguments of no_such_tool -->\n<!-- end of generated -->",
		"<!-- generated: something -->\n<!-- end of generated -->",
		"<!-- generated: catalogue -->\nand no end",
	} {
		if _, err := fillTools(root, []byte(doc)); err == nil {
			t.Errorf("taken without a word: %q", doc)
		}
	}
}

// TestKeysKeepTheirOrder: tables list arguments as the struct does, the
// important ones first.
func TestKeysKeepTheirOrder(t *testing.T) {
	got, err := keys([]byte(`{"properties":{"z":{},"a":{"properties":{"x":{}}},"m":{}}}`))
	if err != nil || !slices.Equal(got, []string{"z", "a", "m"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestFillHelpKeepsTheProse: a generated section is replaced up to the next
// heading, and a help that has lost one is not written.
func TestFillHelpKeepsTheProse(t *testing.T) {
	section := func(tag string) string { return helpRule + "N. X   *" + tag + "*\n\nold text\n" }
	doc := "before\n" + section("pillion-keys") + section("pillion-by-hand") + section("pillion-options") + section("pillion-settings") +
		helpRule + "LAST   *pillion-last*\n\nafter\n"
	got, err := fillHelp(root, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter\n") || strings.Count(text, "old text") != 1 ||
		!strings.Contains(text, "*pillion-settings.mode*") || !strings.Contains(text, "*pillion-option-path*") {
		t.Errorf("filled in wrongly:\n%s", text)
	}
	if _, err := fillHelp(root, []byte(strings.Replace(doc, "*pillion-keys*", "*pillion-kays*", 1))); err == nil {
		t.Error("a help without its section of keys is written all the same")
	}
}
