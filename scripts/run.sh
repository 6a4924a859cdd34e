#!/bin/sh
# Runs `npm run demo`, `npm test`, `npm run test:fast`, `npm run test:long`, `npm run test:cluster`, `npm run test:languages`, `npm run test:peers`,
# `npm run bench`, `npm run shell` and `npm run cluster`: sets up a fresh clone, then starts the command in network and mount namespaces of its own. A missing program that cannot be
# installed is named in one line. `run.sh prepare` sets up everything for the tests and starts nothing.
set -eu
command=$1
shift
cd "$(dirname "$0")/.."
root=$PWD
say() { printf 'plexus: %s\n' "$*" >&2; }
stop() { say "$*"; exit 3; }

# Debian's PATH for an ordinary user lacks the directories where it installs iproute2, nftables and iptables.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

# Private namespaces keep the command away from the machine's links, /run and CNI state.
choose_namespaces() {
  if [ "$(id -u)" = 0 ] && unshare --net --mount true 2>/dev/null; then
    namespaces="--net"
  elif unshare --user --map-root-user --net --mount true 2>/dev/null; then
    namespaces="--user --map-root-user --net"
  else
    stop "namespaces cannot be made here, neither as root nor as a user: run as root (in a container with CAP_SYS_ADMIN), or allow user namespaces (sysctl user.max_user_namespaces=10000; Debian: kernel.unprivileged_userns_clone=1; Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)"
  fi
}

find_plugins() {
  for directory in /opt/cni/bin /usr/lib/cni /usr/libexec/cni; do
    if [ -x "$directory/bridge" ] && [ -x "$directory/host-local" ]; then return 0; fi
  done
  return 1
}
# Some distributions have the compiler without the headers.
find_compiler() { printf '#include <errno.h>\n#include <linux/netlink.h>\n' | "${CC:-cc}" -E - >/dev/null 2>&1; }

# Names the Debian packages without which the command cannot run.
name_missing() {
  find_compiler || printf ' gcc libc6-dev'
  find_plugins || printf ' containernetworking-plugins'
  command -v ip >/dev/null 2>&1 || printf ' iproute2'
}

# Installs the missing programs as root, or names all of them at once.
install_programs() {
  missing=$(name_missing)
  wanted=$missing
  # Tests that compare with nft(8) are skipped without it.
  if [ $tests = yes ]; then command -v nft >/dev/null 2>&1 || wanted="$wanted nftables"; fi
  # Some 300 MB, so only by choice: without a browser, the tests of `plexusctl ui` in a browser are skipped.
  if [ $tests = yes ] && [ "${PLEXUS_TEST_BROWSER:-}" = 1 ] && [ ! -x /usr/bin/chromium ]; then wanted="$wanted chromium"; fi
  if [ -n "$wanted" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing$wanted with apt-get (once)"
    log=$(mktemp)
    # shellcheck disable=SC2086
    { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted ||
      { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted; }; } >"$log" 2>&1 || true
    missing=$(name_missing)
    [ -z "$missing" ] || grep '^E:' "$log" >&2 || true
    rm -f "$log"
  fi
  [ -z "$missing" ] ||
    stop "missing:$missing; install them (Debian: apt-get install$missing; elsewhere a C compiler with the headers of libc and Linux, the CNI reference plugins in /opt/cni/bin, and ip)"
}

tests=no
case $command in test | test-long | prepare) tests=yes ;; esac

# npm, Go and the tests keep files in the home directory, which many containers mount read-only.
use_writable_home() {
  mkdir -p "${HOME:-/nonexistent}/.cache/plexus" 2>/dev/null && [ -w "$HOME/.cache/plexus" ] && return 0
  say "the home directory ${HOME:-} cannot be written: dist/home is used"
  npm_config_userconfig=${npm_config_userconfig:-${HOME:-}/.npmrc}
  HOME=$root/dist/home
  mkdir -p "$HOME"
  export HOME npm_config_userconfig
}
use_writable_home

command -v npm >/dev/null 2>&1 || stop "npm is missing: install Node.js 20 or newer with npm"
# Unit tests need no compiler, no namespaces, no plugins and no build. Other commands name what is missing before they install packages for minutes.
if [ "$command" != test-fast ]; then
  choose_namespaces
  install_programs
fi

# npm waits for minutes for a registry that does not answer. Packages that npm has in its cache need none.
install_packages() {
  # `npm ci` fails where a registry lacks the optional binary of another platform. `npm install` keeps to the lock file too.
  set -- install --no-save --no-fund --no-audit --no-update-notifier --loglevel=error
  if npm view --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000 node version >/dev/null 2>&1; then
    npm "$@" >&2 || stop "npm install failed: see above"
  else
    npm "$@" --offline >/dev/null 2>&1 ||
      stop "npm's registry $(npm config get registry) does not answer, and npm's cache lacks packages: name another registry or a proxy (npm config set registry URL; npm config set https-proxy URL)"
  fi
}
# npm writes node_modules/.package-lock.json at the end of an install that succeeded. `-nt` of dash is false if that file is missing.
if [ ! -x node_modules/node/bin/node ] || [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  say "installing npm packages (once, some minutes)"
  install_packages
  touch node_modules/.package-lock.json
fi
PATH=$root/node_modules/.bin:$root/node_modules/node/bin:$PATH
export PATH
# Tests start some thousand Node processes: workers, and programs of the tree in TypeScript. Most of such a start is compilation.
case $command in
  test* | prepare)
    NODE_COMPILE_CACHE=$root/dist/test/compile-cache
    # The ordinary user's copy of the tree has other paths (scripts/second-user.sh).
    NODE_COMPILE_CACHE_PORTABLE=1
    export NODE_COMPILE_CACHE NODE_COMPILE_CACHE_PORTABLE
    # Clones share built components by the digest of their sources: compiling all of them takes 80 s of CPU time.
    PLEXUS_BUILD_CACHE=${PLEXUS_BUILD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/plexus/delegates}
    export PLEXUS_BUILD_CACHE
    # Programs in C that only tests need: compiling them takes 40 s of CPU time.
    PLEXUS_PROGRAM_CACHE=${PLEXUS_PROGRAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/plexus/programs}
    export PLEXUS_PROGRAM_CACHE
    # Programs below temporary directories leave entries that no later run uses, and so does each change of the kit in the cache of builds.
    for cache in "$NODE_COMPILE_CACHE" "$PLEXUS_BUILD_CACHE" "$PLEXUS_PROGRAM_CACHE"; do
      size=$(du -sk "$cache" 2>/dev/null | cut -f1)
      [ "${size:-0}" -lt 300000 ] || rm -rf "$cache"
    done
    ;;
esac
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 26 ? 0 : 1)' ||
  stop "the npm package 'node' did not install Node 26: its install script must be allowed (npm install-scripts approve node; npm rebuild node)"

if [ "$command" = test-fast ]; then
  unset NODE_EXTRA_CA_CERTS NODE_OPTIONS 2>/dev/null || true
  exec vitest run --project unit "$@"
fi

[ "$command" != test ] || [ $# != 0 ] || node scripts/test-run/print-plan.ts
# PLEXUS_BUILT=1: dist/ is current, and another command may be using it.
[ "${PLEXUS_BUILT:-}" = 1 ] || node scripts/build.ts || stop "the build failed: see above"
# The compilers of the builds below collect garbage less often, which takes a sixth of their CPU time off. The tests' own Go programs do not.
# PLEXUS_PREPARED=1: `run.sh prepare` has run.
prepare() { [ "${PLEXUS_PREPARED:-}" = 1 ] || GOGC=800 GOMEMLIMIT=2GiB node "$@"; }
# Go modules come from the module proxy, which private namespaces do not reach.
if [ $tests = yes ]; then
  prepare test/node/conformance/libcni/build-oracle.ts
  prepare test/lab/multus/build.ts
  prepare test/lab/kube/build.ts chart
  prepare test/lab/whereabouts/build.ts
  prepare test/lab/registry/get.ts
  prepare test/lab/cluster/get.ts
  prepare test/lab/promtool.ts
  prepare test/lab/build-newer-plugins.ts
  prepare test/lab/containerd/get.ts
  prepare test/lab/podman/get.ts
  prepare test/lab/firewalld/get.ts
fi
if [ "$command" = test-languages ] || [ "$command" = prepare ]; then
  prepare test/lab/rust/get.ts
  prepare test/lab/python/get.ts
fi
if [ "$command" = test-peers ]; then
  prepare test/lab/peers/build.ts
fi
if [ "$command" = cluster ] || [ "$command" = test-cluster ] || [ "$command" = prepare ]; then
  prepare test/lab/kube/build.ts cluster
  prepare test/lab/containerd/get.ts
  prepare test/lab/cluster/get.ts
  prepare test/lab/neutron/get.ts
  prepare test/lab/moto/get.ts
  prepare test/lab/multus/build.ts cluster
fi
# The cluster of helm-install.test.ts runs the image for users.
if [ "$command" = test-cluster ] || [ "$command" = prepare ]; then
  prepare test/lab/image/get.ts
  prepare test/lab/network-client/build.ts
fi
# Only the rows that compare with Multus need Multus and kube-apiserver.
if [ "$command" = bench ]; then
  case " $* " in
    *multus* | *api* | *sparse* | *wasm-only* | *floor* | *pool*) compared=yes ;;
    *" --only "*) compared=no ;;
    *) compared=yes ;;
  esac
  if [ $compared = yes ]; then
    prepare test/lab/multus/build.ts bench
    prepare test/lab/whereabouts/build.ts
    prepare test/lab/kube/build.ts api
  fi
  # The rows delegate-NAME compare with the newest reference plugins.
  case " $* " in *delegate*) compared=yes ;; *" --only "*) compared=no ;; *) compared=yes ;; esac
  [ $compared = no ] || prepare test/lab/build-newer-plugins.ts
fi

[ "$command" != prepare ] || exit 0
# shellcheck disable=SC2086
exec unshare $namespaces --mount --propagation private -- sh scripts/private.sh "$command" "$@"
