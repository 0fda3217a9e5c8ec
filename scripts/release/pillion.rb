class Pillion < Formula
  desc "Lets coding agents work in your project through your editor"
  homepage "@RELEASES@"
  url "@RELEASES@/pillion-@VERSION@-source.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "go" => :build

  def install
    ENV["RELEASE"] = version.to_s
    system "scripts/build.sh", bin/"pillion"
    generate_completions_from_executable(bin/"pillion", "completion")
    (man1/"pillion.1").write Utils.safe_popen_read(bin/"pillion", "help", "--man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pillion version")
  end
end
