// Gives up rights of this process for good: capabilities, and new privileges by set-user-ID programs.

import { readFileSync } from "node:fs";

/** <linux/prctl.h>. */
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const capabilityVersion = 0x2008_0522;
const lastCapability = 63;

/** The rights of this process' first thread, as /proc/self/status has them. */
export interface OwnRights {
  readonly noNewPrivileges: boolean;
  readonly permitted: bigint;
}

/** Reads the rights of this process. */
function ownRights(): OwnRights {
  const status = readFileSync("/proc/self/status", "utf8");
  const field = (name: string): string => new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "mu").exec(status)?.[1] ?? "0";
  return { noNewPrivileges: field("NoNewPrivs") === "1", permitted: BigInt(`0x${field("CapPrm")}`) };
}

/** Whether this process has a capability, or may get one by executing a program. */
export function hasRights(): boolean {
  const { noNewPrivileges, permitted } = ownRights();
  return !noNewPrivileges || permitted !== 0n;
}

/**
 * Gives up all capabilities, and all new privileges, for the calling thread and the programs that it executes. The other threads keep
 * theirs, so the caller must execute itself anew. Answers false if nothing had to be given up, or if the kernel refused it.
 */
export function giveUpRights(): boolean {
  if (!hasRights()) return false;
  const { functions } = process.getBuiltinModule("node:ffi").dlopen(null, {
    prctl: { arguments: ["i32", "u64", "u64", "u64", "u64"], return: "i32" },
    capset: { arguments: ["buffer", "buffer"], return: "i32" },
  });
  for (let capability = 0; capability <= lastCapability; capability += 1)
    functions.prctl(PR_CAPBSET_DROP, BigInt(capability), 0n, 0n, 0n);
  functions.prctl(PR_CAP_AMBIENT, BigInt(PR_CAP_AMBIENT_CLEAR_ALL), 0n, 0n, 0n);
  functions.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(capabilityVersion);
  // Two structures of effective, permitted, inheritable: the low and the high 32 bits. All are empty.
  functions.capset(header, Buffer.alloc(24));
  return !hasRights();
}
