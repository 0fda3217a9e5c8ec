{
  description = "Lets coding agents work in your project through your editor";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      version = builtins.head (builtins.match ".*\n## ([0-9.]+).*" (builtins.readFile ./CHANGELOG.md));
      build =
        pkgs:
        pkgs.stdenv.mkDerivation {
          pname = "pillion";
          inherit version;
          src = self;
          nativeBuildInputs = [ pkgs.go pkgs.installShellFiles ];
          buildPhase = ''
            export HOME=$TMPDIR RELEASE=$version
            bash scripts/build.sh $out/bin/pillion
          '';
          installPhase = ''
            for shell in bash zsh fish; do $out/bin/pillion completion $shell >pillion.$shell; done
            $out/bin/pillion help --man >pillion.1
            installShellCompletion pillion.bash pillion.zsh pillion.fish
            installManPage pillion.1
          '';
          meta.mainProgram = "pillion";
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = build nixpkgs.legacyPackages.${system};
      });
    };
}
