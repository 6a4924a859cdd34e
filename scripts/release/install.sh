#!/bin/sh
# Installs this release of Plexus on this node: ./install.sh [--dry-run] [--home DIR] [--cni-bin DIR] …
# It replaces files atomically, so pods may start meanwhile. `./install.sh --help` lists the options of `plexusctl install`.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
stop() { printf 'plexus: %s\nNothing was installed.\n' "$1" >&2; exit 1; }

said=$("$here/bin/node" --version 2>&1)
status=$?
if [ $status -ne 0 ]; then
  library=$(printf '%s\n' "$said" | sed -n 's/.*error while loading shared libraries: \([^:]*\):.*/\1/p')
  case $library in
    '') ;;
    libatomic.so.1) stop "the library libatomic.so.1 is missing. Debian: apt-get install libatomic1. Fedora, RHEL: dnf install libatomic" ;;
    *) stop "the library $library is missing: install the package that has it" ;;
  esac
  case $status:$said in
    *GLIBC*) stop "this node's libc is too old: $said" ;;
    126:*) stop "bin/node can't be executed: it is for another CPU architecture, or this file system is mounted noexec ($said)" ;;
    127:*) stop "bin/node can't be started: it needs glibc, which this node lacks" ;;
    *) stop "bin/node does not run: $said" ;;
  esac
fi
exec "$here/bin/node" --disable-warning=ExperimentalWarning "$here/plexusctl.cjs" install "$@"
