package lspbridge

// Known are the servers that need no settings.
func Known() []Server {
	return []Server{
		{
			Name: "pylsp", Command: []string{"pylsp"}, Languages: []string{"python"},
			RootMarkers: []string{"pyproject.toml", "setup.py", "setup.cfg"},
			Characters:  utf32,
			Install:     "pip install python-lsp-server",
		},
		{
			Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Languages: []string{"shellscript"},
			Install: "npm install -g bash-language-server",
		},
	}
}
