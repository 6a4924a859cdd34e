// The claimed AddressPool in a network's list: `ipam.pool` of the first plugin, where the list leaves the pool open. A list that names its pool is the choice
// of the list's author, and a claim cannot replace it. An IPAM plugin that ignores the pool is found by its answer (src/npwg/verification.ts).

import { editMembers, isJsonObject, memberText, memberValue, parseDocument } from "../../../src/json/document.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { foldedKey } from "../../../src/json/folded-key.ts";
import { quote } from "../../../src/json/quote.ts";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { poolNameIn } from "../../../src/configuration/pool-name.ts";
import { withPlugins } from "../../../src/npwg/network-plugins.ts";

/** The list with the pool in its first plugin. `what` names the network in messages. Fault CLAIM_UNUSABLE. */
export function placedPool(list: NetworkList, pool: string, what: string): Result<NetworkList> {
  const [first] = list.plugins;
  return withPlugins(list, (plugin, where): Result<PluginConf> => {
    if (plugin !== first) return ok(plugin);
    const refused = (why: string): Result<never> => failed(fault("CLAIM_UNUSABLE", `${what}: pool ${pool}: ${where}${why}`));
    const ipam = memberValue(plugin.document, "ipam");
    const other = [...plugin.document.members.keys()].find((key) => key !== "ipam" && foldedKey(key) === "ipam");
    if (other !== undefined) return refused(`.${quote(other, 40)} must be written as ipam`);
    if (!isJsonObject(ipam)) return refused(" has no ipam; give the list an IPAM component");
    const written = poolNameIn(plugin.document.parsed);
    if (!written.ok) return written;
    if (written.value === pool) return ok(plugin);
    if (written.value !== undefined)
      return refused(`.ipam.pool is ${quote(written.value, 40)} already; leave parameters.pool out`);
    const inner = parseDocument(memberText(plugin.document, "ipam") ?? "{}", { what: `${where}.ipam` });
    if (!inner.ok) return inner;
    const text = editMembers(inner.value, new Map([["pool", JSON.stringify(pool)]]));
    const document = parseDocument(editMembers(plugin.document, new Map([["ipam", text]])), { what: where });
    return document.ok ? ok({ ...plugin, document: document.value }) : document;
  });
}
