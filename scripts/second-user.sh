#!/bin/sh
# Runs tests as a temporary ordinary user, in a copy of this tree, with Debian's PATH of ordinary users: without /usr/sbin, Go and
# Rust. The copy includes packages, build and test cache. If no such user can be created, prints the reason and ends with status 0.
# Arguments: test files or folders; none for the tests below, whose outcome the user's rights can change: namespaces, capabilities, file owners,
# users of sandbox processes, and an installation without root. Of the folders `attach`, `commands` and `system` these are the files that use such rights: the
# others choose networks, read names and versions, and judge results, which is the same for each user.
set -eu
cd "$(dirname "$0")/.."
attach="address-conflicts bond-members bridge-adapter claims default-route device-info dhcp host-ports hostile-state left-addresses lifecycle open-vswitch
  renamed-link secondary secrets verbs"
places="test/node/capabilities test/node/commands/doctor.test.ts test/node/commands/run-credential-plugin.test.ts test/node/daemon test/node/one-shot
  test/node/sandbox test/node/shim test/node/store test/node/system/credentials.test.ts test/node/system/libc.test.ts test/node/system/node-internals.test.ts
  test/node/system/operations.test.ts test/hostile/attacker test/ship/install.test.ts test/ship/uninstall.test.ts"
for name in $attach; do places="$places test/node/attach/$name.test.ts"; done
skip() { printf 'plexus: no test run as an ordinary user: %s\n' "$*" >&2; exit 0; }

[ "$(id -u)" = 0 ] || skip "a second user is made by root only"
command -v useradd >/dev/null 2>&1 || skip "useradd is missing"
command -v runuser >/dev/null 2>&1 || skip "runuser is missing"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/plexus

place=$(mktemp -d /tmp/plexus-ordinary-XXXXXX)
user=plexus-ci-$$
chmod 755 "$place"
cleanup() {
  # An interrupted run leaves processes, and a user with processes cannot be deleted.
  pkill -KILL -u "$user" 2>/dev/null || true
  userdel "$user" 2>/dev/null || true
  rm -rf "$place"
}
useradd --home-dir "$place/home" --create-home "$user" 2>/dev/null || { rm -rf "$place"; skip "useradd failed"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

as_user() { runuser -u "$user" -- env -i HOME="$place/home" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin "$@"; }
as_user sh -c 'command -v npm' >/dev/null || skip "npm is not in /usr/local/bin, /usr/bin or /bin"
as_user unshare --user --map-root-user --net --mount true 2>/dev/null || skip "user namespaces are not allowed"

mkdir -p "$place/tree" "$place/home/.cache/plexus"
find . -mindepth 1 -maxdepth 1 ! -name node_modules ! -name .git -exec cp -a {} "$place/tree/" \;
chown -R "$user:" "$place/tree" "$place/home"
# Packages and programs are a gigabyte. Hard links share the files, which stay root's; the user gets the directories.
link() {
  probe=$(find "$1" -type f -print -quit)
  # Tests that run meanwhile remove temporary files in caches: such a file is no reason to copy all others.
  if [ -z "$probe" ] || ln "$probe" "$place/probe" 2>/dev/null; then
    cp -al "$1" "$2" 2>/dev/null || [ -e "$2" ]
  else
    cp -a "$1" "$2"
  fi
  rm -f "$place/probe"
  find "$2" -type d -exec chown "$user:" {} +
}
link node_modules "$place/tree/node_modules"
rm -rf "$place/tree"/node_modules/.vite*
if [ -d "$cache" ]; then
  # Only root builds images (2 GB), boots machines with them, runs a kubelet, and starts Neutron.
  for entry in "$cache"/*; do
    case ${entry##*/} in
      image | vm-* | kubelet-* | debian-neutron | moto-* | ec2-provider-*) ;;
      *) link "$entry" "$place/home/.cache/plexus/${entry##*/}" ;;
    esac
  done
fi
# The build's link to Node may be absolute, into this tree.
rm -f "$place/tree/dist/bin/node"
ln -s "$place/tree/node_modules/node/bin/node" "$place/tree/dist/bin/node"
rm -rf "$place/tree/dist/test/reports" "$place/tree/dist/test/unsteady.txt"

status=0
# shellcheck disable=SC2086
[ $# != 0 ] || set -- $places
# The copied build is that of these sources.
(cd "$place/tree" && as_user PLEXUS_BUILT=1 PLEXUS_TEST_WORKERS="${PLEXUS_TEST_WORKERS:-5}" sh scripts/run.sh test-as-user "$@") >"$place/log" 2>&1 || status=$?
if [ "$status" != 0 ]; then cat "$place/log" >&2; fi
mkdir -p dist/test/reports
cp "$place/tree/dist/test/reports/user.json" dist/test/reports/ 2>/dev/null || true
if [ -f "$place/tree/dist/test/unsteady.txt" ]; then
  sed 's/^unsteady: /unsteady: as an ordinary user: /' "$place/tree/dist/test/unsteady.txt" >>dist/test/unsteady.txt
fi
printf 'as an ordinary user, without /usr/sbin, Go and Rust on PATH: %s\n' "$(grep '^tests: ' "$place/log" | tail -n 1)"
exit "$status"
