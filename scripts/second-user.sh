#!/bin/sh
# Runs `npm test` as a temporary ordinary user, in a copy of this tree, with Debian's PATH of ordinary users: without /usr/sbin, Go and
# Rust. The copy includes packages, build and test cache. If no such user can be created, prints the reason and ends with status 0.
# Arguments: test files; none for all tests but those of test/lab/same-for-every-user.ts and computing-tests.ts, type check and lint, which
set -eu
cd "$(dirname "$0")/.."
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

cp -a . "$place/tree"
# The build's link to Node may be absolute, into this tree.
rm -f "$place/tree/dist/bin/node"
mkdir -p "$place/tree/dist/bin" "$place/home/.cache"
ln -s "$place/tree/node_modules/node/bin/node" "$place/tree/dist/bin/node"
if [ -d "$cache" ]; then
  mkdir "$place/home/.cache/plexus"
  # Only root builds images (2 GB), boots machines with them, runs a kubelet, and starts Neutron.
  find "$cache" -mindepth 1 -maxdepth 1 ! -name image ! -name 'vm-*' ! -name 'kubelet-*' ! -name debian-neutron ! -name 'moto-*' ! -name 'ec2-provider-*' -exec cp -a {} "$place/home/.cache/plexus/" \;
fi
chown -R "$user:" "$place/tree" "$place/home"

cd "$place/tree"
status=0
[ $# != 0 ] || set -- --project second-user --project daemon --project alone
as_user PLEXUS_TEST_SECOND_USER=1 npm test -- "$@" >"$place/log" 2>&1 || status=$?
if [ "$status" != 0 ]; then cat "$place/log" >&2; fi
printf 'as an ordinary user, without /usr/sbin, Go and Rust on PATH: %s\n' "$(grep '^tests: ' "$place/log" | tail -n 1)"
exit "$status"
