#!/bin/sh
# Behind `npm run demo`, `npm test` and `npm run bench`: does all set-up in a fresh clone, then runs the command
# in network and mount namespaces of its own. What is missing and can't be installed is said in one line.
set -eu
command=$1
shift
cd "$(dirname "$0")/.."
root=$PWD
say() { printf 'plexus: %s\n' "$*" >&2; }
stop() { say "$*"; exit 3; }

command -v npm >/dev/null 2>&1 || stop "npm is missing: install Node.js 20 or newer with npm"
command -v "${CC:-cc}" >/dev/null 2>&1 || stop "a C compiler is missing: install one (Debian: apt-get install gcc libc6-dev)"

# Namespaces of its own: nothing that runs here can touch the machine's links, /run or CNI state.
if [ "$(id -u)" = 0 ] && unshare --net --mount true 2>/dev/null; then
  namespaces="--net"
elif unshare --user --map-root-user --net --mount true 2>/dev/null; then
  namespaces="--user --map-root-user --net"
else
  stop "neither root's nor a user's namespaces may be made here: run as root (in a container with CAP_SYS_ADMIN), or allow user namespaces (sysctl user.max_user_namespaces=10000; Debian: kernel.unprivileged_userns_clone=1; Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)"
fi

# npm writes node_modules/.package-lock.json at the end of a good install: older than the lock means not done.
if [ ! -x node_modules/node/bin/node ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  say "installing npm packages (once)"
  # Not `npm ci`: it fails where a registry lacks the optional binary of another platform. Versions are the lock's all the same.
  npm install --no-save --no-fund --no-audit --loglevel=error >&2 ||
    stop "npm install failed: see above; a registry must be reachable once"
  touch node_modules/.package-lock.json
fi
PATH=$root/node_modules/.bin:$root/node_modules/node/bin:$PATH
export PATH
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 26 ? 0 : 1)' ||
  stop "the npm package 'node' did not install Node 26: its install script must be allowed (npm install-scripts approve node; npm rebuild node)"

find_plugins() {
  for directory in /opt/cni/bin /usr/lib/cni /usr/libexec/cni; do
    if [ -x "$directory/bridge" ] && [ -x "$directory/host-local" ]; then return 0; fi
  done
  return 1
}
missing=
find_plugins || missing="containernetworking-plugins"
command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
# Tests that compare with nft(8) are skipped without it.
if [ "$command" = test ]; then command -v nft >/dev/null 2>&1 || missing="$missing nftables"; fi
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing $missing with apt-get (once)"
    log=$(mktemp)
    # shellcheck disable=SC2086
    { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
      { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }; } >"$log" 2>&1 || true
    rm -f "$log"
  fi
  { find_plugins && command -v ip >/dev/null 2>&1; } ||
    stop "missing: $missing; install it (Debian: apt-get install $missing; elsewhere the CNI reference plugins in /opt/cni/bin)"
fi

node scripts/build.ts || stop "the build failed: see above"
# What is built from Go modules needs the module proxy once, which private namespaces don't reach.
if [ "$command" = test ]; then
  node test/conformance/libcni/build-oracle.ts
  node test/conformance/multus/build.ts
  node test/harness/kube/build.ts
  node test/e2e/containerd/get.ts
fi
# The rows that compare with Multus need both; no others do.
if [ "$command" = bench ]; then
  case " $* " in
    *multus* | *api* | *wasm-only* | *floor*) compared=yes ;;
    *" --only "*) compared=no ;;
    *) compared=yes ;;
  esac
  if [ $compared = yes ]; then
    node test/conformance/multus/build.ts bench
    node test/harness/kube/build.ts
  fi
fi

# shellcheck disable=SC2086
exec unshare $namespaces --mount --propagation private -- sh scripts/private.sh "$command" "$@"
