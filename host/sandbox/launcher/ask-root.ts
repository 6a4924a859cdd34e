// Asks the launch server to share what root has made in a directory (share.c): files that native host-local and one-shot engines make.

import { readSync, writeSync } from "node:fs";
import type { LaunchServer } from "./jail.ts";

const intBytes = 4;
/** launcher.h: REQUEST_MAX. */
const maxRequestBytes = 4096;

/**
 * The function that asks. It waits for the answer, which takes a fork and some system calls: the operation that failed is synchronous, and holds a lock. Only
 * this process reads from the connection.
 */
export function rootAsker({ descriptor }: Pick<LaunchServer, "descriptor">): (directory: string) => boolean {
  const answer = Buffer.alloc(intBytes);
  return (directory) => {
    const request = Buffer.from(`share\0${directory}\0`);
    if (request.length > maxRequestBytes) return false;
    try {
      writeSync(descriptor, request);
      return readSync(descriptor, answer) === intBytes && answer.readInt32LE() === 0;
    } catch {
      // The launch server has ended, and the daemon ends after it.
      return false;
    }
  };
}
