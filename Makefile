# Every recipe is one command or one script. `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help build try try-vscode try-nvim try-gateway test rides fuzz lint generate bench vsix release setup clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the binary, in bin/pillion
	@scripts/build.sh bin/pillion

try: build ## a scripted agent works on a sample project and asks you in this terminal
	@bin/pillion try

try-vscode: ## the same in a real VS Code in your browser; prints its address
	@node scripts/try-vscode.mjs

try-nvim: build ## the same in a real Neovim in this terminal
	@node scripts/try-nvim.mjs

try-gateway: build ## talk in this terminal to a scripted agent behind a gateway; IN=vscode or IN=nvim: in that editor
	@node scripts/try-gateway.mjs $(if $(IN),--$(IN))

test: ## everything that a change waits for; the first run installs what it needs into a cache folder
	@node scripts/check.mjs

rides: ## all else that needs real editors and agents; ONLY=vscode/git, CHANGED=origin/main, REPEAT=20
	@ONLY="$(ONLY)" CHANGED="$(CHANGED)" REPEAT="$(REPEAT)" node scripts/rides.mjs

fuzz: ## the fuzz targets, five minutes each; FUZZ_TIME=1h for longer
	@FUZZ_TIME=$${FUZZ_TIME:-5m} ONLY=fuzz node scripts/rides.mjs

lint: ## formatting, vet, staticcheck, types, eslint and the freshness of generated files
	@node scripts/check.mjs lint

generate: ## write the generated files anew
	@scripts/generate.sh

bench: build ## speed and size, as ratios against other programs in the same run
	@node scripts/bench.mjs

vsix: ## the VS Code extension with the binary in it, in vscode-extension/pillion.vsix
	@scripts/vsix.sh

release: ## all that people install, of the newest commit, in artifacts/release
	@node scripts/release.mjs

setup: ## install what the tests need without running them
	@scripts/setup.sh

clean: ## remove what was built here; the cache folder stays
	@rm -rf bin artifacts vscode-extension/dist vscode-extension/bin vscode-extension/*.vsix
