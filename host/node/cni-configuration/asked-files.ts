// plexusd's files in the runtime's directory of network configurations, changed by the daemon's launch server (configuration.c). The daemon needs no
// right to write in that directory, and the launch server refuses steps that root has not put there.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { getSystemErrorMessage, getSystemErrorName } from "node:util";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { LaunchServer } from "../../sandbox/launcher/jail.ts";
import { askFileArguments } from "../../sandbox/launcher/launch-server.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { readByRoot } from "../../store/files/shared-with-root.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { EKEYREJECTED, ENOENT, ESTALE } from "../../system/errno.ts";
import type { OwnFiles } from "./own-file.ts";

/** In the place of a number of bytes: there is no file to be replaced. */
const absent = 0xffff_ffff;

/** Asks the launch server of this daemon. */
export function askedFiles(launcher: string, { descriptor }: LaunchServer): OwnFiles {
  /** Answers the errno, or 0. */
  const ask = async (verb: "write" | "remove", path: string, content: readonly Uint8Array[]): Promise<number> => {
    const child = spawn(launcher, askFileArguments(verb, basename(path)), {
      cwd: "/",
      env: {},
      stdio: ["pipe", "ignore", "ignore", descriptor],
    });
    const ended = once(child, "close");
    child.stdin?.on("error", () => undefined);
    for (const bytes of content) child.stdin?.write(bytes);
    child.stdin?.end();
    const [status] = (await ended) as [number | null];
    if (status === null) throw new Error("the launch server's answer was cut off");
    return status;
  };
  return {
    async write(path, text, _replaces, expected) {
      try {
        const present = readPresent(path);
        if (present?.toString("utf8") !== expected) return ok(false);
        const size = Buffer.alloc(4);
        size.writeUInt32LE(present?.length ?? absent);
        const errno = await ask("write", path, [size, present ?? Buffer.alloc(0), Buffer.from(text)]);
        return errno === ESTALE ? ok(false) : errno === 0 ? ok(true) : failed(storeFault("writing", path, reasonOf(errno)));
      } catch (error) {
        return failed(storeFault("writing", path, error));
      }
    },
    async remove(path): Promise<Result<void>> {
      try {
        const errno = await ask("remove", path, []);
        return errno === 0 || errno === ENOENT ? ok(undefined) : failed(storeFault("removing", path, reasonOf(errno)));
      } catch (error) {
        return failed(storeFault("removing", path, error));
      }
    },
  };
}

function readPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? undefined : readByRoot(path, error);
  }
}

function reasonOf(errno: number): string {
  return errno === EKEYREJECTED
    ? "the launch server writes no step that is neither Plexus nor in the file already, no list without a name that CNI allows, and no member of Plexus' step that the template lacks. After a change of the template's type, restart plexusd"
    : `${getSystemErrorName(-errno)}: ${getSystemErrorMessage(-errno)}`;
}
