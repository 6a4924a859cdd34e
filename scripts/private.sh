#!/bin/sh
# Runs inside the private namespaces that run.sh made. Gives them a loopback, an empty /run and empty CNI state, sets
# PLEXUS_PRIVATE (tests that touch links refuse to run without it), and starts the command.
set -eu
command=$1
shift

# Covers directory $1 with a tmpfs that shows each entry of $1 as a bind mount. New entries can then be made in $1
# without a trace on the machine, by an ordinary user too.
cover() {
  copy=$(mktemp -d)
  mount -t tmpfs -o mode=755 tmpfs "$copy"
  for entry in "$1"/* "$1"/.[!.]*; do
    name=${entry##*/}
    if [ -L "$entry" ]; then
      cp -P "$entry" "$copy/$name"
    elif [ -d "$entry" ]; then
      mkdir "$copy/$name"
      mount --rbind "$entry" "$copy/$name"
    elif [ -e "$entry" ]; then
      : >"$copy/$name"
      mount --bind "$entry" "$copy/$name"
    fi
  done
  mount --move "$copy" "$1"
  rmdir "$copy"
}

# Mounts an empty tmpfs at $1, whether or not the machine has that directory.
mount_empty() {
  if [ ! -d "$1" ]; then
    cover "${1%/*}"
    mkdir "$1"
  fi
  mount -t tmpfs -o mode=755 tmpfs "$1"
}

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/plexus /run/lock
mount_empty /var/lib/cni
mount_empty /var/lib/kubelet
# Only hides the machine's own networks; tests write nothing there.
if [ -d /etc/cni ]; then mount_empty /etc/cni; fi
ip link set lo up
PLEXUS_PRIVATE=$(stat -L -c %i /proc/self/ns/net)
export PLEXUS_PRIVATE
unset NODE_EXTRA_CA_CERTS NODE_OPTIONS PLEXUS_SOCKET PLEXUS_HOME PLEXUS_NESTED_CALLS PLEXUS_TEST_SOCKET 2>/dev/null || true

case $command in
  demo) exec node scripts/demo/demo.ts "$@" ;;
  bench) exec node bench/run.ts "$@" ;;
  cluster) exec node test/lab/cluster/shell.ts "$@" ;;
  test)
    if [ $# = 0 ]; then
      sh scripts/type-check.sh
      oxlint
      oxfmt --check >/dev/null || { echo "plexus: oxfmt: files are not formatted: npm run format" >&2; exit 1; }
      exec node scripts/test-run/run-tests.ts test --repeat-failed --project unit --project places
    fi
    # A folder's name may also match long tests, and tests of toolchains that only test-languages and test-peers prepare.
    case " $* " in *.long.test.ts* | *languages* | *test/peers*) ;; *) set -- --project '!long' "$@" ;; esac
    # Beside an engineer a failure is shown as it is; in CI a failed file runs once more.
    [ "${CI:-}" != true ] || exec node scripts/test-run/run-tests.ts chosen --repeat-failed "$@"
    exec vitest run "$@"
    ;;
  test-as-user) exec node scripts/test-run/run-tests.ts user --repeat-failed --project unit --project places "$@" ;;
  test-long)
    [ $# != 0 ] || set -- .long.test.ts
    exec node scripts/test-run/run-tests.ts long --repeat-failed --project long "$@"
    ;;
  test-languages)
    [ $# != 0 ] || set -- test/kit/languages/
    exec node scripts/test-run/run-tests.ts languages --repeat-failed --project long "$@"
    ;;
  test-peers)
    if [ "${1:-}" = --record ]; then
      shift
      PLEXUS_PEERS_RECORD=1
      export PLEXUS_PEERS_RECORD
    fi
    [ $# != 0 ] || set -- test/peers/
    exec node scripts/test-run/run-tests.ts peers --repeat-failed --project long --maxWorkers 1 "$@"
    ;;
  test-cluster)
    case " $* " in *surroundings*) export PLEXUS_TEST_SURROUNDINGS=1 ;; esac
    case " $* " in *cluster/kubernetes*) export PLEXUS_TEST_KUBERNETES=1 ;; esac
    [ $# != 0 ] || [ "${PLEXUS_TEST_SURROUNDINGS:-}" = 1 ] ||
      echo "plexus: tests beside other programs (40 minutes) are left out: npm run test:cluster -- test/cluster/surroundings"
    # Two clusters at a time, because most of a test is waiting. Each takes up to 1.5 GB. A third makes tests with time limits late on two cores.
    workers=2
    [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -ge 4000000 ] || workers=1
    exec node scripts/test-run/run-tests.ts cluster --repeat-failed --project cluster --maxWorkers $workers "$@"
    ;;
  shell) exec "${SHELL:-sh}" "$@" ;;
  *) echo "plexus: no such command: $command" >&2; exit 2 ;;
esac
