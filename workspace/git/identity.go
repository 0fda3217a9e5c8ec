package git

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"pillion/workspace/git/gitdir"
)

// Identity is whom git names in a commit. Both are empty where neither the
// environment nor the configuration says so: then git asks the system, or refuses.
type Identity struct{ Name, Email string }

// String is the identity as commits have it.
func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// identityOf is who the author or the committer is, as git finds it.
func identityOf(c gitdir.Config, role string) Identity {
	env := "GIT_" + strings.ToUpper(role) + "_"
	return Identity{
		Name:  cmp.Or(os.Getenv(env+"NAME"), c.Get(role+".name"), c.Get("user.name")),
		Email: cmp.Or(os.Getenv(env+"EMAIL"), c.Get(role+".email"), c.Get("user.email"), os.Getenv("EMAIL")),
	}
}

// IdentityVariables are what of the environment git takes an identity from, and its
// configuration.
var IdentityVariables = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// Signing says how commits are signed.
type Signing struct {
	On      bool
	Format  string // openpgp, x509 or ssh
	Program string // that signs
	Key     string // "": the program's choice
	Asked   string // the program that is asked for the key

	Setting Setting // what git is told: whether it signs
}

// signs is how what a setting is about is signed, if it is: commits, or pushes where the remote asks for it.
func signs(c gitdir.Config, key string) Signing {
	s := Signing{On: c.Bool(key, false)}
	s.Setting = Setting{Key: key, Value: strconv.FormatBool(s.On)}
	if strings.EqualFold(c.Get(key), "if-asked") {
		s.On, s.Setting.Value = true, "if-asked"
	}
	if !s.On {
		return s
	}
	s.Format = cmp.Or(strings.ToLower(c.Get("gpg.format")), "openpgp")
	usual := map[string]string{"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}[s.Format]
	s.Program = c.Get("gpg." + s.Format + ".program")
	if s.Format == "openpgp" {
		s.Program = cmp.Or(s.Program, c.Get("gpg.program"))
	}
	s.Program, s.Key = cmp.Or(s.Program, usual), c.Get("user.signingkey")
	if s.Format == "ssh" && s.Key == "" {
		s.Asked = c.Get("gpg.ssh.defaultkeycommand")
	}
	return s
}
