// Asks the launch server for files that root alone may use: to share what root has made in a directory (share.c), such as native host-local's leases, and for the
// content of a configuration in the runtime's directory (configuration.c).

import { spawnSync } from "node:child_process";
import { readSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isReadableWithin } from "../../system/libc/libc.ts";
import type { RootHelp } from "../../store/files/shared-with-root.ts";
import type { LaunchServer } from "./jail.ts";
import { askFileArguments } from "./launch-server.ts";

const intBytes = 4;
/** launcher.h: REQUEST_MAX. */
const maxRequestBytes = 4096;

/** Maximum wait for an answer: the launch server's child may be killed before it answers. */
const maxWaitMs = 60_000;
/** launcher: CONTENT_MAX of configuration.c. */
const maxContentBytes = 1024 * 1024;

/**
 * The requests. Both wait for the answer: the operation that failed is synchronous, and holds a lock. A request to share takes a fork and some system calls.
 * Only this process reads from the connection. `configurations`: the runtime's directory; undefined: the daemon reads none.
 */
export function rootHelp(
  launcher: string,
  { descriptor }: Pick<LaunchServer, "descriptor">,
  configurations: string | undefined,
): RootHelp {
  const answer = Buffer.alloc(intBytes);
  // After a missing answer the next one could be that of an earlier request.
  let answers = true;
  return {
    share(directory) {
      const request = Buffer.from(`share\0${directory}\0`);
      if (!answers || request.length > maxRequestBytes) return false;
      try {
        writeSync(descriptor, request);
        answers = isReadableWithin(descriptor, maxWaitMs);
        return answers && readSync(descriptor, answer) === intBytes && answer.readInt32LE() === 0;
      } catch {
        // The launch server has ended, and the daemon ends after it.
        return false;
      }
    },
    read(path) {
      if (dirname(path) !== configurations) return undefined;
      const { status, stdout } = spawnSync(launcher, askFileArguments("read", basename(path)), {
        cwd: "/",
        env: {},
        stdio: ["ignore", "pipe", "ignore", descriptor],
        maxBuffer: 2 * maxContentBytes,
      });
      return status === 0 ? stdout : undefined;
    },
  };
}
