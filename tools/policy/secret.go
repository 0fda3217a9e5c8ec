package policy

import (
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// secretNames are those of files, not of the folders above them: a .env folder is mostly a
// virtual environment. One with slashes is a file in such folders, with ** everything below them.
var secretNames = strings.Fields(`
	.env* *.env .dev.vars* .flaskenv *.pem id_* *.key *.p12 *.pfx *.p8 *.pkcs12 *.jks *.keystore *.bcfks *.kdbx *.kdb *.ppk *.ovpn *.gpg *.pgp *.age .htpasswd .netrc _netrc .authinfo*
	*.agilekeychain *.keychain *.keychain-db *.opvault *.psafe3 *.kwallet *.mobileprovision key.json keys.json privkey* private_key* ssh_host_*_key
	.npmrc etc/npmrc .pypirc .m2/settings.xml .gradle/gradle.properties .nuget/nuget/nuget.config .gem/credentials .cargo/credentials* auth.json .m2/settings-security.xml .hex/hex.config
	.git-credentials .pgpass pgpass.conf .my.cnf .mylogin.cnf .mongorc.js .mongoshrc.js .rediscli_auth .databrickscfg .snowsql/config .snowflake/config.toml .dbt/profiles.yml
	.aws/credentials .aws/config .aws/sso/** .aws/cli/cache/** .s3cfg .s3curl .boto .azure/** .kube/config kubeconfig* *.kubeconfig .docker/config.json .dockercfg .dockerconfigjson .config/gcloud/** roaming/gcloud/** gcloud/*.db gcloud/configurations/** gcloud/legacy_credentials/** .oci/config .bluemix/config.json .doctl/config.yaml hcloud/cli.toml .linode-cli .flyctl/config.yml .fly/config.yml
	application_default_credentials.json service-account*.json service_account*.json serviceaccount*.json client_secret* credentials.json credentials.y* .credentials.json .credentials secrets.y* secrets.json secrets.toml secret.y* secret.json .secrets*
	.terraformrc terraform.rc credentials.tfrc.json *.tfstate *.tfstate.backup *.tfvars *.tfvars.json .vault-token .vault_pass* .ansible_vault* vault-password* .cf/config.json .consul-token .nomad-token
	gh/hosts.yml glab-cli/config.yml .config/hub .netlify/config.json netlify/config.json .wrangler/config/default.toml .heroku/credentials .sentryclirc .huggingface/token huggingface/token kaggle.json
	oauth_creds.json google_accounts.json github-copilot/hosts.json github-copilot/apps.json .cursor/mcp.json
	*.keytab krb5cc_* *.keyring .config/sops/age/keys.txt git/credentials login?data
	.config/stripe/config.toml ngrok.yml .config/op/config doctl/config.yaml flyctl/config.yml tea/config.yml .cloudflared/** .mc/config.json .supabase/access-token .railway/config.json .copilot/config.json .continue/config.json
	local.settings.json wp-config.php vault.y* jenkins.credentials env.local env.production env.development env.staging
	wg*.conf .smbcredentials .davfs2/secrets rclone.conf .rclone.conf .mbsyncrc .msmtprc .fetchmailrc .offlineimaprc .muttrc .irssi/config .weechat/sec.conf wpa_supplicant.conf *.nmconnection .ftpconfig .remote-sync.json sftp.json sftp-config.json filezilla.xml recentservers.xml sitemanager.xml
	.bash_history .zsh_history .sh_history .ksh_history fish_history .python_history .node_repl_history .irb_history .pry_history .psql_history .mysql_history .sqlite_history .rediscli_history .dbshell .mongo_history mongosh_repl_history .lesshst .viminfo main.shada .zhistory .histfile .local/state/bash/history history.sqlite
	.kube/config* .kube/*.y* clouds.y* scw/config.yaml .aliyun/config.json talosconfig .talos/config argocd/config *firebase-adminsdk*.json configstore/firebase-tools.json rootkey.csv accesskeys.csv *credentials.csv *accesskeys.csv
	.yarnrc.yml pip.conf .condarc pypoetry/auth.toml .bundle/config .claude.json .mcp.json .vscode/mcp.json .aider.conf.yml github-copilot/oauth.json huggingface/stored_tokens
	*_rsa *_ed25519 *_ecdsa *_dsa solana/id.json keystore/utc--* .electrum/wallets/** kwalletd/** .pg_service.conf .odbc.ini .snowflake/connections.toml atuin/history.db nushell/history.txt .rhistory .duckdb_history share/python_history
	token.json .token credentials credentials.toml credentials.ini credentials.txt secrets.sh secrets.ini secrets.py secrets.xml *.enc.y* api_key* apikey* deploy_key mcp_config.json claude_desktop_config.json .codex/config.toml
	.config/pillion/settings.json consolehost_history.txt .zsh_sessions/** .claude/history.jsonl .codex/history.jsonl .argocd/config .tsh/keys/** admin.conf kubelet.conf k3s.yaml .htdigest *.jceks *.pvk cookies.txt .erlang.cookie
	.restic-password .passwd-s3fs appsettings.production.json signing.properties cwallet.sso .foundry/keystores/** .near-credentials/**
	default/cookies network/cookies .vnc/passwd .subversion/auth/** secrets.txt secret.txt password.txt passwords.txt passwd.txt tokens.txt token.txt
	logins.json key3.db key4.db cookies.sqlite wallet.dat .dockerhub .circleci/cli.yml keystore.properties key.properties .passwd .password-store/**
	helm/repositories.yaml helm/registry/config.json .python-gitlab.cfg pip.ini .clasprc.json .ansible/galaxy_token .travis/config.yml .acme.sh/account.conf .awsvault/keys/** uv/credentials/** .step/secrets/** .doppler/.doppler.yaml openrc.sh *-openrc.sh configstore/snyk.json .twurlrc toot/config.json
	.duckdb/stored_secrets/** .influxdbv2/configs cqlshrc credentials-config.json .usqlpass .purple/accounts.xml msmtp/config isyncrc .mpoprc aerc/accounts.conf neomuttrc .neomuttrc mutt/muttrc sasl_passwd .b2_account_info token.pickle gitlab-secrets.json .gitlab-runner/config.toml gitlab-runner/config.toml .runner .credentials_rsaparams
	tomcat-users.xml *.publishsettings msal_token_cache.* msal.cache etc/shadow etc/gshadow secrets.*yaml secrets.*yml secrets.*json *-secret.yaml *-secret.yml privatekey *.nk *.creds logins-backup.json login?data?for?account *.har storage_state.json playwright/.auth/** *.pk8 *.jwk nushell/history.sqlite3`)

// Secret says whether path looks like a file with secrets.
func Secret(path string) bool { return isSecret(elements(path)) }

func isSecret(names []string) bool {
	made := targets(names)
	return looksSecret(names) || !slices.Equal(names, made) && looksSecret(made)
}

func looksSecret(names []string) bool {
	if len(names) == 0 {
		return false
	}
	names = slices.Clone(names)
	last := &names[len(names)-1]
	name := *last
	match := func(patterns []string) bool { return isSecretAt(patterns, names) }
	isShort := strings.Contains(name, "~") // of Windows
	for isCopy := true; isCopy; {
		if slices.ContainsFunc(secretsByLeaf[*last], match) || slices.ContainsFunc(secretsByLeaf[""], match) {
			return true
		}
		if isShort {
			for _, patterns := range secretsByLeaf {
				if slices.ContainsFunc(patterns, match) {
					return true
				}
			}
		}
		before := *last
		if *last, isCopy = withoutCopy(before); !isCopy && before != name { // vim hides copies
			*last, isCopy = strings.CutPrefix(before, ".")
		}
	}
	return false
}

// copies are the endings by which editors, package managers, databases and people tell a copy of a file from it, behind
// numbers or dates, and added to with such.
var copies = strings.Fields("bak bkp backup old orig save saved copy new tmp temp prev bad rej lock lck swp swo swn un rpmsave rpmnew rpmorig pacsave pacnew dpkg ucf dist gz bz2 xz zst wal shm journal")

var inCopy = pattern.New(`^copy of | copy( [0-9]+)?| \([0-9]+\)`)

// withoutCopy is a name without the last that was added to it for a copy.
func withoutCopy(name string) (rest string, isCopy bool) {
	if strings.Contains(name, " ") {
		rest = inCopy().ReplaceAllString(name, "")
		return rest, rest != name && rest != ""
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, ".#"), "#"), "#")
	rest = strings.TrimRight(rest, "~")
	at := strings.LastIndexAny(rest, "-_.~")
	ending := strings.TrimRight(rest[at+1:], "0123456789")
	switch {
	case at > 0 && (ending == "" || slices.Contains(copies, ending)):
		rest = rest[:at]
	case rest == name:
		return "", false
	}
	return rest, rest != ""
}

// secretsByLeaf has the names by their last one, and below "" those of which that has a *: a search
// asks for every file.
var secretsByLeaf = func() map[string][][]string {
	out := map[string][][]string{}
	for _, name := range secretNames {
		patterns := strings.Split(strings.ReplaceAll(name, "?", " "), "/")
		leaf := patterns[len(patterns)-1]
		if strings.Contains(leaf, "*") {
			leaf = ""
		}
		out[leaf] = append(out[leaf], patterns)
	}
	return out
}()

// isSecretAt says whether the names end as the patterns do.
func isSecretAt(patterns, names []string) bool {
	if last := len(patterns) - 1; patterns[last] == "**" {
		for end := last; end < len(names); end++ {
			folder := names[end-1] // of most the first byte tells
			if (strings.HasPrefix(folder, patterns[last-1][:1]) || strings.Contains(folder, "~")) && isSecretAt(patterns[:last], names[:end]) {
				return true
			}
		}
		return false
	}
	from := len(names) - len(patterns)
	if from < 0 {
		return false
	}
	for i, pattern := range patterns {
		if !matchesName(pattern, names[from+i]) {
			return false
		}
	}
	return true
}

// secretReads lists the secret files that the call reads, in stable order, by the
// name of the file that is reached.
func secretReads(r Request) []string {
	var out []string
	for _, fact := range r.Paths {
		if !fact.Write && fact.isSecret() {
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
