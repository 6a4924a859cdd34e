// The configuration with which Plexus is asked for STATUS of one network: the node's own, with this network as the default network.

import { type NetworkList, selfContainedText } from "../../../src/cni/network-list.ts";
import { CURRENT_VERSION } from "../../../src/cni/versions.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { editMembers, parseDocument } from "../../../src/json/document.ts";

/** Used before the first call of the runtime: no grants, so that components are not executed. */
const minimal = JSON.stringify({ name: "plexus", type: "plexus" });

/**
 * The configuration's text. `kept` is the node's configuration as the runtime last passed it; undefined: unknown. Fault CONFIG_NOT_JSON for a damaged
 * one.
 */
export function statusConfiguration(kept: string | undefined, list: NetworkList, stateDirectory: string): Result<string> {
  const document = parseDocument(kept ?? minimal, { what: "the node's configuration" });
  if (!document.ok) return document;
  const values = new Map([
    ["cniVersion", JSON.stringify(CURRENT_VERSION)],
    ["cniDir", JSON.stringify(stateDirectory)],
    ["delegates", `[${selfContainedText(list)}]`],
  ]);
  // Plexus, as Multus, reads its keys in any case of letters.
  const replaced = new Set([...values.keys(), "clusterNetwork", "readinessindicatorfile"].map((key) => key.toLowerCase()));
  const old = [...document.value.members.keys()].filter((key) => replaced.has(key.toLowerCase()));
  const edits = new Map<string, string | undefined>(old.map((key) => [key, undefined]));
  for (const [key, value] of values) edits.set(key, value);
  return ok(editMembers(document.value, edits));
}
