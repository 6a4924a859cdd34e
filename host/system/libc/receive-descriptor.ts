// Receives a message that may bring a descriptor (SCM_RIGHTS of unix(7)). Node has a way for this between its own processes only.

const headerBytes = 56;
const controlBytes = 24;
const maxBytes = 64;
/** A `struct msghdr` of a 64-bit Linux, then a `struct iovec`, the control message, and the message itself. */
const places = { vector: headerBytes, control: headerBytes + 16, message: headerBytes + 16 + controlBytes } as const;
/** <sys/socket.h>: the kernel closes the descriptor when this process executes another program. */
const MSG_CMSG_CLOEXEC = 0x4000_0000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;

/** A message: its bytes, and the descriptor that came with it. */
export interface Received {
  readonly bytes: Buffer;
  readonly descriptor: number | undefined;
}

interface Receiver {
  readonly memory: Buffer;
  readonly receive: (fd: number) => bigint;
}

let made: Receiver | undefined;

/** Receives one message of at most 64 bytes; undefined at the end of the connection and after an error. Waits for a message if the socket blocks. */
export function receiveDescriptor(fd: number): Received | undefined {
  made ??= makeReceiver();
  const { memory, receive } = made;
  memory.writeBigUInt64LE(BigInt(controlBytes), 40);
  memory.writeBigUInt64LE(0n, places.control);
  const size = Number(receive(fd));
  if (size <= 0) return undefined;
  const [level, kind] = [8, 12].map((at) => memory.readInt32LE(places.control + at));
  const isDescriptor = memory.readBigUInt64LE(40) > 16n && level === SOL_SOCKET && kind === SCM_RIGHTS;
  const bytes = Buffer.from(memory.subarray(places.message, places.message + size));
  return { bytes, descriptor: isDescriptor ? memory.readInt32LE(places.control + 16) : undefined };
}

/** The header has addresses, so its memory stays where it is: that of an ArrayBuffer does. */
function makeReceiver(): Receiver {
  const ffi = process.getBuiltinModule("node:ffi");
  const memory = Buffer.from(new ArrayBuffer(places.message + maxBytes));
  const address = ffi.getRawPointer(memory);
  memory.writeBigUInt64LE(address + BigInt(places.vector), 16);
  memory.writeBigUInt64LE(1n, 24);
  memory.writeBigUInt64LE(address + BigInt(places.control), 32);
  memory.writeBigUInt64LE(address + BigInt(places.message), places.vector);
  memory.writeBigUInt64LE(BigInt(maxBytes), places.vector + 8);
  const { functions } = ffi.dlopen(null, { recvmsg: { arguments: ["i32", "buffer", "i32"], return: "i64" } });
  const header = memory.subarray(0, headerBytes);
  return { memory, receive: (fd) => functions.recvmsg(fd, header, MSG_CMSG_CLOEXEC) };
}
