// The uids of sandbox processes (`wasm.sandboxUids`).

import { key, type ValuesOf } from "../table/key.ts";
import type { Kind } from "../table/kind.ts";
import { count } from "../table/kinds.ts";
import { section } from "../table/section.ts";

/** The largest uid that a range may have: beyond it some programs read a negative number. */
export const maxUid = 2_147_483_646;

const rangeKeys = {
  first: key({ kind: count(maxUid), about: "The first uid.", required: true }),
  count: key({
    kind: count(maxUid),
    about: "The number of uids. With fewer uids than the kernel's pid_max, two processes may have the same uid.",
    required: true,
  }),
};

/** A range of uids, and of gids with the same numbers. */
export type UidRange = ValuesOf<typeof rangeKeys>;

/** The uids of sandbox processes; `same`: they keep the engine's uid. */
export type SandboxUids = UidRange | "same";

/**
 * The default range. A sandbox process gets the uid FIRST + (pid modulo COUNT). The count is the kernel's maximum of pids, so no two live
 * processes have the same uid.
 */
export const defaultUids: UidRange = { first: 2_000_000_000, count: 4_194_304 };

const range = section(rangeKeys);

/** `"same"`, or an object with `first` and `count`. */
export const uidsKind: Kind<SandboxUids> = {
  read: (reader, at) => {
    const value = reader.value(at);
    if (value === "same") return value;
    if (typeof value === "string") {
      const found = JSON.stringify(value.slice(0, 60));
      reader.refuse(at, `must be "same" or an object with first and count, but is ${found}`);
      return undefined;
    }
    const uids = range.read(reader, at);
    // A range with a mistake lacks a number.
    const last = (uids?.first ?? NaN) + (uids?.count ?? NaN) - 1;
    if (last > maxUid) reader.refuse(at, `ends at uid ${last}; the largest is ${maxUid}`);
    return Number.isNaN(last) ? undefined : uids;
  },
  schema: () => ({ anyOf: [{ type: "string", const: "same" }, range.schema()] }),
};
