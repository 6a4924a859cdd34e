#!/bin/sh
# Runs inside the private namespaces that run.sh made: gives them a loopback, an empty /run and empty CNI state, marks
# them (tests refuse to run without the mark), and starts the command.
set -eu
command=$1
shift
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/plexus /run/lock
for state in /var/lib/cni /etc/cni /var/lib/kubelet; do
  if [ -d "$state" ] || mkdir -p "$state" 2>/dev/null; then mount -t tmpfs -o mode=755 tmpfs "$state"; fi
done
ip link set lo up
PLEXUS_PRIVATE=$(stat -L -c %i /proc/self/ns/net)
export PLEXUS_PRIVATE
unset NODE_EXTRA_CA_CERTS NODE_OPTIONS PLEXUS_SOCKET PLEXUS_HOME PLEXUS_NEST 2>/dev/null || true

case $command in
  demo) exec node test/demo/demo.ts "$@" ;;
  bench) exec node test/bench/run.ts "$@" ;;
  test)
    if [ $# = 0 ]; then
      tsc --noEmit
      oxlint
      oxfmt --check >/dev/null || { echo "plexus: oxfmt: files are not formatted: npm run format" >&2; exit 1; }
    fi
    exec vitest run "$@"
    ;;
  shell) exec "${SHELL:-sh}" "$@" ;;
  *) echo "plexus: no such command: $command" >&2; exit 2 ;;
esac
