#!/bin/sh
# Makes the file system of a node in the mount namespace that machine.ts made, and becomes the node's first process.
# usage: machine.sh NAME DISK RUN CGROUP INIT [DIRECTORY...]
#   DISK       holds etc, opt, var: what a reboot keeps
#   RUN        becomes /run: what a reboot removes
#   CGROUP     the cgroup of the node's own processes, below each hierarchy
#   INIT       the first process
#   DIRECTORY  shown read-only at its own path
set -eu
name=$1 disk=$2 run=$3 cgroup=$4 init=$5
shift 5

for file in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
  procs=${file%/*}$cgroup/cgroup.procs
  if [ -e "$procs" ]; then echo 0 >"$procs"; fi
done

echo "$name" >/proc/sys/kernel/hostname
root=$(dirname "$disk")/root
mkdir -p "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"
show() { # read-only, at its own path
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
  mount -o remount,bind,ro "$root$1"
}
for entry in bin sbin lib lib32 lib64 libx32 usr; do
  if [ -L "/$entry" ]; then cp -P "/$entry" "$root/$entry"
  elif [ -d "/$entry" ]; then show "/$entry"
  fi
done
mkdir "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/root" "$root/home" "$root/mnt"
mkdir -m 1777 "$root/tmp"
for entry in etc opt var; do
  mkdir "$root/$entry"
  mount --bind "$disk/$entry" "$root/$entry"
done
mount --bind "$run" "$root/run"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
for directory in "$@" "${init%/*}"; do show "$directory"; done

mkdir "$root/.old"
cd "$root"
pivot_root . .old
umount -l /.old
rmdir /.old
# A container with mountPropagation needs a shared mount.
mount --make-rshared /

# The kubelet sets these values of the whole machine unless it finds them.
settings=/run/kernel-settings
mkdir "$settings"
set_for_kubelet() {
  echo "$2" >"$settings/$1"
  mount --bind "$settings/$1" "/proc/sys/$(echo "$1" | tr . /)"
}
set_for_kubelet vm.overcommit_memory 1
set_for_kubelet vm.panic_on_oom 0
set_for_kubelet kernel.panic 10
set_for_kubelet kernel.panic_on_oops 1
set_for_kubelet kernel.keys.root_maxkeys 1000000
set_for_kubelet kernel.keys.root_maxbytes 25000000
# A reboot gives the machine another identity of its boot. Until then the machine has the kernel's, which its containers see: a daemon and an engine of
# the node must agree on it.
if [ -e /var/lib/booted ]; then
  cat /proc/sys/kernel/random/uuid >"$settings/boot_id"
  mount --bind "$settings/boot_id" /proc/sys/kernel/random/boot_id
fi
mkdir -p /var/lib
: >/var/lib/booted

echo 1 >/proc/sys/net/ipv4/ip_forward
echo ready
exec "$init"
