// The capability `state` of one call, over a store: files of this node, the same with a shadow's changes in memory, or memory only.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { StateCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { misuseOf, witOutcome } from "../outcome.ts";

/** The texts of one attachment, by the directory that the configuration names; undefined: the default directory. */
export interface StateStore {
  readonly load: (directory: string | undefined) => Result<string | undefined>;
  readonly save: (directory: string | undefined, text: string) => Result<undefined>;
  readonly remove: (directory: string | undefined) => Result<undefined>;
}

/** The call that the capability is bound to. */
export interface StateCall {
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
}

/** Maximum length of the text, in bytes of UTF-8. */
export const maxStateBytes = 65_536;

const misused = misuseOf("state");

/** Verbs that may change the state. */
const writingVerbs: ReadonlySet<Verb> = new Set(["ADD", "DEL"]);

/** The capability. `storeOf` makes the store of the attachment's file name. */
export function stateOver(call: StateCall, storeOf: (fileName: string) => StateStore): StateCapability {
  const fileName = fileNameOf(call);
  const store = fileName.ok ? ok(storeOf(fileName.value)) : fileName;
  return {
    load: (directory) => witOutcome(store.ok ? store.value.load(directory) : store),
    save: (directory, text) => {
      const denied = writeDenial(call) ?? sizeDenial(text);
      if (denied !== undefined) return witOutcome(failed(denied));
      return witOutcome(store.ok ? store.value.save(directory, text) : store);
    },
    remove: (directory) => {
      const denied = writeDenial(call);
      if (denied !== undefined) return witOutcome(failed(denied));
      return witOutcome(store.ok ? store.value.remove(directory) : store);
    },
  };
}

/** A store whose changes stay in memory. Each change is refused that the store itself would refuse when it loads. */
export function withChangesInMemory(store: StateStore): StateStore {
  const saved = new Map<string, string | undefined>();
  const change = (directory: string | undefined, text: string | undefined): Result<undefined> => {
    const loaded = store.load(directory);
    if (!loaded.ok) return loaded;
    saved.set(directory ?? "", text);
    return ok(undefined);
  };
  return {
    load: (directory) => (saved.has(directory ?? "") ? ok(saved.get(directory ?? "")) : store.load(directory)),
    save: change,
    remove: (directory) => change(directory, undefined),
  };
}

function fileNameOf({ verb, attachment }: StateCall): Result<string> {
  if (attachment === undefined) return failed(misused(`${verb} has no attachment, and so no state`));
  const name = `${attachment.containerId}_${attachment.ifname}.json`;
  return /[/\0]/u.test(name) ? failed(misused(`${quote(name)} is not a valid file name`)) : ok(name);
}

/** The fault of a verb that may not change the state; undefined if it may. */
function writeDenial({ verb }: StateCall): Fault | undefined {
  return writingVerbs.has(verb) ? undefined : misused(`${verb} may only load the state, not change it`);
}

function sizeDenial(text: string): Fault | undefined {
  const size = Buffer.byteLength(text);
  return size > maxStateBytes ? misused(`the text has ${size} bytes; the maximum is ${maxStateBytes}`) : undefined;
}
