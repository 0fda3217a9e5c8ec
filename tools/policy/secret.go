package policy

import (
	"slices"
	"strings"

	"pillion/internal/fault"
)

// secretNames are those of files, not of the folders above them: a .env folder is mostly a
// virtual environment. One with a slash is a file in a folder of that name.
var secretNames = strings.Fields(`
	.env* *.pem id_* *.key *.p12 *.pfx *.p8 *.jks *.keystore *.kdbx *.ppk *.ovpn *.gpg *.age .htpasswd .netrc _netrc .authinfo*
	.npmrc .pypirc .gem/credentials .cargo/credentials* .composer/auth.json auth.json
	.git-credentials .pgpass pgpass.conf .my.cnf .mylogin.cnf .mongorc.js .rediscli_auth .databrickscfg .snowsql/config
	.aws/credentials .s3cfg .boto .azure/* .kube/config kubeconfig* .docker/config.json .dockercfg .dockerconfigjson gcloud/*
	application_default_credentials.json service-account*.json service_account*.json client_secret* credentials.json credentials.y* secrets.y* secrets.json secrets.toml .secrets*
	.terraformrc terraform.rc *.tfstate *.tfstate.backup *.tfvars *.tfvars.json .vault-token .vault_pass* .ansible_vault* .pulumi/credentials.json .cf/config.json
	.config/gh/hosts.yml .netlify/config.json .vercel/auth.json .huggingface/token wg0.conf .smbcredentials .davfs2/secrets
	master.key`)

// Secret says whether path looks like a file with secrets.
func Secret(path string) bool {
	names := elements(path)
	if len(names) == 0 {
		return false
	}
	leaf := names[len(names)-1]
	folder := ""
	if len(names) > 1 {
		folder = names[len(names)-2]
	}
	return slices.ContainsFunc(secretNames, func(pattern string) bool {
		in, pattern, nested := cutFolder(pattern)
		return matchesName(pattern, leaf) && (!nested || matchesName(in, folder))
	})
}

func cutFolder(pattern string) (in, name string, nested bool) {
	at := strings.LastIndexByte(pattern, '/')
	if at < 0 {
		return "", pattern, false
	}
	folders := pattern[:at]
	return folders[strings.LastIndexByte(folders, '/')+1:], pattern[at+1:], true
}

// secretReads lists the secret files that the call reads, in stable order, by the
// name of the file that is reached.
func secretReads(r Request) []string {
	var out []string
	for _, fact := range r.Paths {
		if !fact.Write && slices.ContainsFunc(fact.names(), Secret) {
			out = append(out, fault.Quote(fact.real()))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func secretReasons(names []string) []string {
	var reasons []string
	for _, name := range names {
		reasons = append(reasons, secretReason(name))
	}
	return reasons
}

func secretReason(name string) string {
	return fault.Quote(name) + " looks like a file with secrets"
}
