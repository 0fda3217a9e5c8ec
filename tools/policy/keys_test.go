package policy

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// random is a value as keys have it, made here: none stands in this file.
func random(n int, from string) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := []byte{}
	for range n {
		out = append(out, from[r.IntN(len(from))])
	}
	return string(out)
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	mixed   = letters + "abcdefghijklmnopqrstuvwxyz"
)

func keysOfEachKind() map[string]string {
	begin, end := "-----BEGIN ", "-----\n"
	body := random(64, mixed+"/")
	return map[string]string{
		begin + "RSA PRIVATE KEY" + end + body + "\n" + body:                                       "a private key",
		begin + "OPENSSH PRIVATE KEY" + end + body:                                                 "a private key",
		begin + "PGP PRIVATE KEY BLOCK" + end + "\nVersion: x\n\n" + body:                          "a private key",
		begin + "RSA PRIVATE KEY" + end + "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES,0\n\n" + body:     "a private key",
		`"key": "` + begin + `PRIVATE KEY-----\n` + body + `\n"`:                                   "a private key",
		"AK" + "IA" + random(16, letters):                                                          "an AWS access key",
		"ghp" + "_" + random(36, mixed):                                                            "a GitHub token",
		"github" + "_pat_" + random(22, mixed) + "_" + random(59, mixed):                           "a GitHub token",
		"glpat" + "-" + random(20, mixed):                                                          "a GitLab token",
		"xoxb" + "-123456789012-" + random(24, mixed):                                              "a Slack token",
		"sk-" + "ant-api03-" + random(90, mixed+"_-"):                                              "an Anthropic key",
		"sk-" + "proj-" + random(80, mixed+"_-"):                                                   "an OpenAI key",
		"sk-" + random(48, mixed):                                                                  "an OpenAI key",
		"AI" + "za" + random(35, mixed+"_-"):                                                       "a Google key",
		"sk_" + "live_" + random(24, mixed):                                                        "a Stripe key",
		"npm" + "_" + random(36, mixed):                                                            "an npm token",
		"ey" + "J" + random(33, mixed) + ".ey" + "J" + random(60, mixed) + "." + random(43, mixed): "a signed token (JWT)",
	}
}

func TestKeysAreFound(t *testing.T) {
	for key, want := range keysOfEachKind() {
		for _, around := range []string{"%", "token = \"%\"\n", strings.Repeat("word ", 5000) + "X=%;" + strings.Repeat("\nline", 5000), "https://u:%@example.com/x", "a.b-c.%\n", "x/%/y", strings.Repeat("\x00", 7) + "%"} {
			if got := KeyIn(strings.ReplaceAll(around, "%", key)); got != want {
				t.Errorf("%.30q in %.20q: %q, want %q", key, around, got, want)
			}
		}
	}
}

// TestKeysInOtherForms: as programs write them into their files.
func TestKeysInOtherForms(t *testing.T) {
	hex, head := "0123456789abcdef", "-----BEGIN "+"PRIVATE KEY-----\n"
	body := random(64, mixed+"/+")
	pem := head + body + "\n" + body + "\n" + strings.Replace(head, "BEGIN", "END", 1)
	for text, want := range map[string]string{
		"tls.key: " + base64.StdEncoding.EncodeToString([]byte(pem)) + "\n": privateKey, "k=" + url.QueryEscape(pem): privateKey, "k=" + url.PathEscape(pem): privateKey,
		strings.ReplaceAll(pem, " ", `\u0020`): privateKey, strings.ReplaceAll(pem, " ", "\t"): privateKey,
		strings.Replace(pem, "\n", "\n"+strings.Repeat("Comment: "+strings.Repeat("word ", 14)+"\n", 20)+"\n", 1): privateKey,
		head + body[:32] + "\n" + body[32:] + "\n" + body[:32]:                                                    privateKey,
		"---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----\nComment: \"x\"\n" + body:                                privateKey,
		"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 14\n" + body:                                              privateKey,
		"AGE-SECRET-" + "KEY-1" + random(58, letters):                                                             privateKey, "xp" + "rv9s21ZrQH" + random(100, mixed): privateKey,
		`{"kty":"RSA","e":"AQAB","d":"` + random(342, mixed) + `"}`: privateKey, "[Interface]\nPrivateKey = " + random(43, mixed) + "=\n": privateKey,
		"hv" + "s." + random(90, mixed): "a Vault token", "dop" + "_v1_" + random(64, hex): "a DigitalOcean token", random(14, mixed) + ".atlas" + "v1." + random(67, mixed): "a Terraform token", "shp" + "at_" + random(32, hex): "a Shopify token",
		"gl" + "sa_" + random(32, mixed) + "_" + random(8, hex): "a Grafana token", "PM" + "AK-" + random(24, hex) + "-" + random(34, hex): "a Postman key", "sk-" + "or-v1-" + random(64, hex): "an OpenRouter key", "ATA" + "TT3xFfGF0" + random(170, mixed): "an Atlassian token",
		"aws_secret_" + "access_key = " + random(40, mixed+"/+"): "an AWS secret key", `"AWS_SECRET_` + `ACCESS_KEY": "` + random(40, mixed+"/+") + `"`: "an AWS secret key", "AccountName=a;Account" + "Key=" + random(86, mixed) + "==;x": "an Azure key",
		"//registry.npmjs.org/:_auth" + "Token=" + random(36, mixed): "an npm token", "https://hooks.slack.com/" + "services/T" + random(8, letters) + "/B" + random(8, letters) + "/" + random(24, mixed): "a Slack webhook",
		"123456789" + ":AA" + random(33, mixed): "a Telegram token", "M" + random(23, mixed) + "." + random(6, mixed) + "." + random(27, mixed): "a Discord token",
	} {
		if got := KeyIn("first\n" + text + "\nlast\n"); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// TestKeysAreFoundBehindSigns of a difference, a comment, a quotation or a number of the line.
func TestKeysAreFoundBehindSigns(t *testing.T) {
	for key, want := range keysOfEachKind() {
		for _, sign := range []string{"-", "+", " ", "--", " -", "++", "- ", "# ", "#", "//", "> ", ">", "*", "|", "12\t", "12:", "a.txt:12:"} {
			if got := KeyIn(sign + strings.ReplaceAll(key, "\n", "\n"+sign)); got != want {
				t.Errorf("%.30q behind %q: %q, want %q", key, sign, got, want)
			}
		}
	}
}

func TestLoginsAreFound(t *testing.T) {
	secret := random(20, mixed)
	basic := base64.StdEncoding.EncodeToString([]byte("x:" + secret))
	for text, want := range map[string]string{
		"url = https://me:" + secret + "@git.corp.net/x.git": "a password in an address", `DB="postgres://app:` + secret + `@db:5432/x"`: "a password in an address", "redis://:" + secret + "@10.0.0.7": "a password in an address",
		"extraheader = AUTHORIZATION: basic " + basic: "an Authorization header", `"Authorization": "Bearer ` + random(32, mixed) + `"`: "an Authorization header", "-H 'authorization: token " + random(24, mixed) + "'": "an Authorization header",
	} {
		if got := KeyIn(strings.Repeat("https://x.org/y Authorization: ok\n", 100) + text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for _, text := range []string{
		"", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\n" + random(64, mixed), "strings.Contains(s, \"-----BEGIN RSA PRIVATE KEY-----\")\nreturn somethingElse",
		"-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----\n" + random(64, mixed), "#-----BEGIN RSA PRIVATE KEY-----\n#-----END RSA PRIVATE KEY-----\n#" + random(64, mixed),
		`if(k.includes("-----BEGIN PRIVATE KEY-----"))return;var integrity="sha512-` + random(86, mixed+"+/") + `==";`, "x-eyJ" + random(60, mixed),
		"AKIA" + "IOSFODNN7EXAMPLE", "AKIA" + random(40, letters), "ghp_" + strings.Repeat("x", 36), "ghp_" + "YOUR_TOKEN_HERE",
		"sk-" + strings.Repeat("abc", 20), "task-" + random(48, mixed), "disk-proj-" + random(48, mixed), "eyJ.eyJ.x", "npm_config_registry_something_very_long_here", "hf_hub_download_from_the_hub_to_a_folder_1",
		"https://user:password@host.org/x", "http://user:pass@host", "https://me:${TOKEN4567}@corp.net", "https://me:<token12>@corp.net", "https://me:xxxxxxx1@corp.net", "https://me:" + random(20, mixed) + "@example.com/", "postgres://postgres:postgres@localhost:5432/x", "https://user:hunter22@example.org", "https://x.org:8443/a@b", "ssh://git@github.com:22/x",
		"Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Bearer <token>", "Authorization: Bearer YOUR_ACCESS_TOKEN", "Authorization: Bearer ${API_TOKEN_1}", "req.Header.Set(\"Authorization\", \"Bearer \"+token)", "authorization: token authentication is required",
		`if strings.HasPrefix(s, "-----BEGIN PRIVATE KEY-----") {` + strings.Repeat("\n\tsomeFunction(withArguments, andMore)", 50), "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" + random(64, mixed), "_authToken=${NPM_TOKEN_OF_THE_REGISTRY_1}", "//r.org/:_authToken=" + strings.Repeat("x", 36), "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		`{"d": "` + random(60, mixed) + `"}`, "PrivateKey = loadKey(path)", "12:34:56:AA" + random(33, mixed), "commit " + random(40, "0123456789abcdef"), "0x" + random(64, "0123456789abcdef"), "hvs.html", "whsec_your_webhook_secret_goes_here_12345", "r8_" + random(20, mixed), strings.Repeat("PRIVATE KEY ", 1<<16),
		random(1<<20, mixed), strings.Repeat("ghp_", 1<<18),
	} {
		if got := KeyIn(text); got != "" {
			t.Errorf("%.60q: %q", text, got)
		}
	}
}
