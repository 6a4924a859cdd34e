// Whether processes of other users can replace a file: by writing to its directory, or to a directory above.

import { lstatSync } from "node:fs";
import { dirname } from "node:path";

const othersWrite = 0o002;
const sticky = 0o1000;

/** Users and groups by number. */
export type IdTest = (id: number) => boolean;

/**
 * The first directory, from the file upwards, to which every user or one of these users or groups can write, with the reason; undefined: none. In a sticky
 * directory above, users can't rename what is another user's. A directory that does not exist yet gets a safe mode from its maker.
 */
export function writableDirectory(file: string, isForeign: IdTest): string | undefined {
  for (let directory = dirname(file), isFirst = true; ; directory = dirname(directory), isFirst = false) {
    const status = lstatSync(directory, { throwIfNoEntry: false });
    if (status !== undefined) {
      const { uid, gid, mode } = status;
      if (isForeign(uid)) return `${directory}: its owner is uid ${uid}`;
      if (isForeign(gid) && (mode & 0o020) !== 0) return `${directory}: gid ${gid} may write to it`;
      if ((mode & othersWrite) !== 0 && (isFirst || (mode & sticky) === 0))
        return `${directory}: every user may write to it (mode ${(mode & 0o7777).toString(8)})`;
    }
    if (directory === dirname(directory)) return undefined;
  }
}
