class QuickMemoryServer < Formula
  desc "One memory service for all your AI agents: plain text stores, fast search"
  homepage "$base"
  url "$base/$wheel", using: :nounzip
  sha256 "$wheel_sha256"
  version "$version"
  license "Apache-2.0"

  depends_on "python@3.12"

  def install
    system Formula["python@3.12"].opt_bin/"python3.12", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--no-cache-dir", *Dir["*.whl"]
    bin.install_symlink libexec/"bin/qms", libexec/"bin/memoryctl"
  end

  service do
    run [opt_bin/"qms", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/qms --version")
  end
end
