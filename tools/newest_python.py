"""Check the project on other versions of Python, with the newest versions of all packages, JAX among them.

    STABLEHLO_REF_PYTHONS="python3.13 python3.14" python tools/newest_python.py
    python tools/newest_python.py    # as root on Debian: with the Python of each release in `SUITES`

Each interpreter gets a clean checkout and a fresh environment, in which it runs the two commands of README.md, compares
the names in jaxlib with those known here, and runs what JAX exports (tools/exports). A release of Debian is installed
into the folder `/opt/<release>` if it is not there, and entered by chroot. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
PYTHONS = "STABLEHLO_REF_PYTHONS"
SUITES = ("trixie", "forky")  # Python 3.13 and 3.14
EXPORTS = ("programs", "devices", "models", "corpus")

# Run a command in another root folder that has the machine's files, but for those of its packages. The mounts are of
# a name space of their own, and end with the command.
ENTER = """
root=$1; shift
for path in /* /etc/hosts /etc/pip.conf /etc/resolv.conf /etc/ssl /etc/xdg; do
  case $path in /bin|/boot|/etc|/lib*|/lost+found|/sbin|/usr|/var) continue ;; esac
  if [ -d $path ]; then mkdir -p $root$path; elif [ -f $path ]; then touch $root$path; else continue; fi
  mount --rbind $path $root$path
done
exec chroot $root env -C "$PWD" PATH=/usr/local/bin:/usr/bin:/bin "$@"
"""


def in_debian(suite: str) -> list[str]:
    """Install a release of Debian, if it is not there, and return the command that runs its Python."""
    root = Path("/opt", suite)
    if not (root / "usr/bin/python3").exists():
        if os.geteuid() or not Path("/etc/debian_version").exists():
            sys.exit(f"set {PYTHONS} to Python executables, or run this as root on Debian")
        subprocess.run("apt-get -q update && apt-get -qy install debootstrap", shell=True, check=True)
        sources = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
        mirror = subprocess.run(sources, check=True, capture_output=True, text=True).stdout.split()[0]
        options = ["--variant=minbase", "--include=python3-venv,ca-certificates,git"]
        script = "/usr/share/debootstrap/scripts/sid"  # which is that of all newer releases
        subprocess.run(["debootstrap", *options, suite, root, mirror, script], check=True)
    return ["unshare", "--mount", "bash", "-euc", ENTER, "bash", str(root), "python3"]


def check() -> int:
    """Check this checkout with the interpreter that runs this; print what fails, and return the exit code."""
    subprocess.run([sys.executable, "-m", "venv", ROOT.parent / "python"], check=True)
    path = f"{ROOT.parent / 'python/bin'}:{os.environ['PATH']}"
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"<!-- (?:run|test) -->\n```sh\n(.+?)```", readme, re.DOTALL)
    commands += [".venv/bin/pip install -q -e '.[jax,lapack]'", ".venv/bin/python tools/jaxlib_names.py"]
    commands += [f".venv/bin/python -W ignore tools/exports/jax_{name}.py" for name in EXPORTS]
    commands += [".venv/bin/python -m pytest tests/test_examples.py tests/frameworks tests/debug tests/syntax"]
    failed = []
    for command in map(str.strip, commands):
        print(f"\n== Python {sys.version.split()[0]}: {command}", flush=True)
        if subprocess.run(["bash", "-euo", "pipefail", "-c", command], env=os.environ | {"PATH": path}).returncode:
            failed.append(command)
    print("".join(f"\nfailed: {command}" for command in failed) or "\nall of it passed", flush=True)
    return bool(failed)


def main() -> int:
    os.environ.setdefault("STABLEHLO_REF_SHARED", str(ROOT.parent / "shared"))
    pythons = [[name] for name in os.environ.get(PYTHONS, "").split()]
    codes = []
    for python in pythons or map(in_debian, SUITES):
        with TemporaryDirectory() as folder:
            checkout = Path(folder, "checkout")
            subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
            codes.append(subprocess.run([*python, "tools/newest_python.py", "--here"], cwd=checkout).returncode)
    return any(codes)


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--here"] else main())
