// A network namespace that belongs to this process alone: requests there show what the kernel can do, and change nothing of the node.

import { closeSync, openSync } from "node:fs";
import { EAGAIN, EINTR } from "../errno.ts";
import type { NamespaceOutcome, NetlinkSender } from "../netlink/exchange.ts";

/** <sched.h>, <sys/socket.h> and <linux/netlink.h>: generic numbers, which no architecture of Node's changes. */
const CLONE_NEWNET = 0x4000_0000;
const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 0x8_0003;
const NETLINK_ROUTE = 0;
const NETLINK_NETFILTER = 12;
const SOL_NETLINK = 270;
/** NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK; an older kernel lacks some of them. */
const socketOptions = [10, 11, 12];
const MSG_DONTWAIT = 0x40;
const replyBytes = 65_536;
/** A `struct sockaddr_nl` of the kernel. */
const kernelAddress = Buffer.alloc(12);
kernelAddress.writeUInt16LE(AF_NETLINK, 0);

/** The namespace. A request's path does not count. The namespace ends with `close`. */
export interface OwnNetworkNamespace extends NetlinkSender {
  close(): void;
}

/** A socket, or the errno of the kernel's refusal to make one. */
type Socket = { readonly fd: number } | { readonly errno: number };

/** Makes a namespace. An errno is the kernel's refusal: EPERM without CAP_SYS_ADMIN. */
export function openOwnNetworkNamespace(): OwnNetworkNamespace | { readonly errno: number } {
  const libc = load();
  const node = openSync("/proc/thread-self/ns/net", "r");
  try {
    const refused = libc.unshare(CLONE_NEWNET);
    if (refused !== 0) return { errno: refused };
    const [route, netfilter] = [netlinkSocket(libc, NETLINK_ROUTE), netlinkSocket(libc, NETLINK_NETFILTER)];
    // Each later socket and child of this thread would be in the namespace.
    const stuck = libc.setns(node, CLONE_NEWNET);
    if (stuck !== 0) throw new Error(`this thread cannot leave its own network namespace: errno ${stuck}`);
    return {
      netlink: async ({ protocol, request }) => exchange(libc, protocol === "netfilter" ? netfilter : route, request),
      close: () => {
        for (const each of [route, netfilter]) if ("fd" in each) closeSync(each.fd);
      },
    };
  } finally {
    closeSync(node);
  }
}

function netlinkSocket(libc: Libc, protocol: number): Socket {
  const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, protocol);
  if (fd < 0) return { errno: -fd };
  const on = Buffer.from([1, 0, 0, 0]);
  for (const option of socketOptions) libc.setsockopt(fd, SOL_NETLINK, option, on, on.length);
  const refused = libc.connect(fd, kernelAddress, kernelAddress.length);
  if (refused === 0) return { fd };
  closeSync(fd);
  return { errno: refused };
}

/** The kernel queues all answers before send(2) returns, and continues a dump with each recv(2). */
function exchange(libc: Libc, socket: Socket, request: Uint8Array): NamespaceOutcome {
  const nothing = new Uint8Array(0);
  if ("errno" in socket) return { errno: socket.errno, sent: false, reply: nothing };
  const sent = libc.send(socket.fd, Buffer.from(request), BigInt(request.length), 0);
  if (sent < 0) return { errno: -sent, sent: false, reply: nothing };
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(replyBytes);
    const size = libc.recv(socket.fd, piece, BigInt(piece.length), MSG_DONTWAIT);
    if (size === -EINTR) continue;
    if (size > 0) pieces.push(piece.subarray(0, size));
    else return { errno: size === -EAGAIN ? 0 : -size, sent: true, reply: Buffer.concat(pieces) };
  }
}

/** The functions answer 0 or the errno; `socket`, `send` and `recv` the value or the negative errno. */
interface Libc {
  readonly unshare: (flags: number) => number;
  readonly setns: (fd: number, kind: number) => number;
  readonly socket: (family: number, type: number, protocol: number) => number;
  readonly connect: (fd: number, address: Buffer, size: number) => number;
  readonly setsockopt: (fd: number, level: number, name: number, value: Buffer, size: number) => number;
  readonly send: (fd: number, data: Buffer, size: bigint, flags: number) => number;
  readonly recv: (fd: number, data: Buffer, size: bigint, flags: number) => number;
}

function load(): Libc {
  const ffi = process.getBuiltinModule("node:ffi");
  const { functions } = ffi.dlopen(null, {
    unshare: { arguments: ["i32"], return: "i32" },
    setns: { arguments: ["i32", "i32"], return: "i32" },
    socket: { arguments: ["i32", "i32", "i32"], return: "i32" },
    connect: { arguments: ["i32", "buffer", "u32"], return: "i32" },
    setsockopt: { arguments: ["i32", "i32", "i32", "buffer", "u32"], return: "i32" },
    send: { arguments: ["i32", "buffer", "u64", "i32"], return: "i64" },
    recv: { arguments: ["i32", "buffer", "u64", "i32"], return: "i64" },
    __errno_location: { arguments: [], return: "pointer" },
  });
  const location = functions.__errno_location();
  // No system call may come between the call and the reading of errno.
  const errno = (): number => ffi.getInt32(location, 0);
  const refusal = (answer: number): number => (answer === 0 ? 0 : errno());
  const value = (answer: number | bigint): number => (answer < 0 ? -errno() : Number(answer));
  return {
    unshare: (flags) => refusal(functions.unshare(flags)),
    setns: (fd, kind) => refusal(functions.setns(fd, kind)),
    socket: (family, type, protocol) => value(functions.socket(family, type, protocol)),
    connect: (fd, address, size) => refusal(functions.connect(fd, address, size)),
    setsockopt: (fd, level, name, bytes, size) => refusal(functions.setsockopt(fd, level, name, bytes, size)),
    send: (fd, data, size, flags) => value(functions.send(fd, data, size, flags)),
    recv: (fd, data, size, flags) => value(functions.recv(fd, data, size, flags)),
  };
}
