#!/bin/sh
# Stands for dnsmasq in the specifications of the reference plugin dhcp: busybox' udhcpd with the range of --dhcp-range=FIRST,LAST,SECONDS, on the
# interface that has an address of the range's network 192.168.1.0/24.
set -eu
for argument; do
  case "$argument" in --dhcp-range=*) range=${argument#--dhcp-range=} ;; esac
done
IFS=, read -r first last seconds <<END
$range
END
interface=$(busybox ip -o -4 address show | busybox sed -n 's/^[0-9]*: \([^ @]*\).* inet 192\.168\.1\..*/\1/p' | busybox head -n 1)
directory=$(busybox mktemp -d)
: >"$directory/leases"
cat >"$directory/udhcpd.conf" <<END
start $first
end $last
interface $interface
lease_file $directory/leases
pidfile $directory/pid
opt subnet 255.255.255.0
opt router 192.168.1.1
opt lease $seconds
END
exec busybox udhcpd -f "$directory/udhcpd.conf"
