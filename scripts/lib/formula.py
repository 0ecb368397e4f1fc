"""Prints the Homebrew formula of a release: formula.py VERSION REPOSITORY DIST.

A platform whose archive is not in DIST is left out.
"""

import hashlib
import sys
from pathlib import Path

PLATFORMS = {
    "macos": [("arm", "aarch64-apple-darwin"), ("intel", "x86_64-apple-darwin")],
    "linux": [("arm", "aarch64-unknown-linux-musl"), ("intel", "x86_64-unknown-linux-musl")],
}

FORMULA = """\
class Modegate < Formula
  desc "Makes Claude Code follow your workflow: gates decided from files and git"
  homepage "{repository}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

{platforms}
  def install
    bin.install "modegate"
    generate_completions_from_executable(bin/"modegate", "completions")
    (man1/"modegate.1").write Utils.safe_popen_read(bin/"modegate", "man")
  end

  test do
    assert_match "blocked", shell_output("#{{bin}}/modegate demo")
  end
end
"""

PART = """\
    on_{cpu} do
      url "{repository}/releases/download/v{version}/{name}"
      sha256 "{digest}"
    end
"""


def part(cpu, target, version, repository, dist):
    name = f"modegate-{version}-{target}.tar.gz"
    archive = Path(dist) / "archives" / name
    if not archive.exists():
        return ""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return PART.format(cpu=cpu, repository=repository, version=version, name=name, digest=digest)


def main(version, repository, dist):
    platforms = ""
    for system, targets in PLATFORMS.items():
        parts = "".join(part(cpu, target, version, repository, dist) for cpu, target in targets)
        platforms += f"  on_{system} do\n{parts}  end\n\n" if parts else ""
    print(FORMULA.format(version=version, repository=repository, platforms=platforms.rstrip("\n") + "\n"), end="")


main(*sys.argv[1:])
