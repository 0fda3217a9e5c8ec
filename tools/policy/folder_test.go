package policy

import "testing"

func TestARuleInAndOutOfAFolder(t *testing.T) {
	for _, test := range []struct {
		rule, name string
		command    bool
		restricts  bool
		want       string
	}{
		{"edit_file(src/**)", "kettle", false, false, "edit_file(kettle/src/**)"},
		{"edit_file(src/**)", "", false, false, "edit_file(src/**)"},
		{"edit_file", "kettle", false, false, "edit_file"},
		{"edit_file(/home/ada/kettle/x)", "kettle", false, true, "edit_file(/home/ada/kettle/x)"},
		{"run_command(go test *)", "kettle", true, false, "run_command(go test *) in kettle"},
		{"run_command(go test *) in sub", "kettle", true, false, "run_command(go test *) in kettle/sub"},
		{"run_command(git push)", "kettle", true, true, "run_command(git push)"}, // in every folder below
		{"run_command(git push) in sub", "kettle", true, true, "run_command(git push) in kettle/sub"},
		{"run_command", "kettle", true, false, "run_command"},
	} {
		if got := mustParse(t, test.rule).In(test.name, test.command, test.restricts); got.String() != test.want {
			t.Errorf("%s in %s: %s, want %s", test.rule, test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		rule, name string
		command    bool
		want       string // "" if it is another folder's
	}{
		{"edit_file(kettle/src/a)", "kettle", false, "edit_file(src/a)"},
		{"edit_file(kettle)", "kettle", false, ""}, // and not edit_file, which is every call
		{"edit_file(kettles/a)", "kettle", false, ""},
		{"edit_file(src/a)", "", false, "edit_file(src/a)"},
		{"run_command(make) in kettle", "kettle", true, "run_command(make)"},
		{"run_command(make) in kettle/sub", "kettle", true, "run_command(make) in sub"},
		{"run_command(make) in teapot", "kettle", true, ""},
		{"run_command(make)", "kettle", true, ""},
	} {
		got, ok := mustParse(t, test.rule).Out(test.name, test.command)
		if text := got.String(); ok != (test.want != "") || ok && text != test.want {
			t.Errorf("%s out of %s: %s, %v, want %s", test.rule, test.name, text, ok, test.want)
		}
	}
}
