// The claimed link in a network's list: the first plugin gets the link's name, or must have it already. A pod that claims one link and attaches to
// another would take what the scheduler has not counted.

import { editMembers, memberValue, parseDocument } from "../../../src/json/document.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { withPlugins } from "../../../src/npwg/network-plugins.ts";
import type { ClaimedLink } from "./prepared-claim.ts";

/** The key by which the first plugin of each type names the node's link (the plugins' own documentation). */
const linkKeys: Readonly<Record<string, string>> = {
  macvlan: "master",
  ipvlan: "master",
  vlan: "master",
  ipoib: "master",
  bridge: "bridge",
  ovs: "bridge",
  "host-device": "device",
};

/** The keys of a VLAN id. */
const vlanKeys = ["vlanId", "vlan"];

/** The list with the link in its first plugin. `what` names the network in messages. Fault CLAIM_UNUSABLE. */
export function placedLink(list: NetworkList, link: ClaimedLink, what: string): Result<NetworkList> {
  const [first] = list.plugins;
  if (first === undefined) return ok(list);
  const vlan = vlanProblem(first, link);
  if (vlan !== undefined) return failed(fault("CLAIM_UNUSABLE", `${what}: ${vlan}`));
  if (link.isExclusive !== (first.type === "host-device" || first.type === "sriov" || first.type === "ib-sriov"))
    return failed(fault("CLAIM_UNUSABLE", `${what}: ${exclusiveProblem(first.type, link)}`));
  if (link.isExclusive && link.pciAddress !== undefined) return withFirst(list, { deviceID: link.pciAddress }, what);
  const key = linkKeys[first.type];
  if (key === undefined)
    return failed(
      fault(
        "CLAIM_UNUSABLE",
        `${what}: plugin ${quote(first.type, 40)} has no key for a claimed link; known are ${Object.keys(linkKeys).join(", ")}`,
      ),
    );
  return withFirst(list, { [key]: link.name }, what);
}

function withFirst(list: NetworkList, values: Readonly<Record<string, string>>, what: string): Result<NetworkList> {
  const [first] = list.plugins;
  return withPlugins(list, (plugin, where): Result<PluginConf> => {
    if (plugin !== first) return ok(plugin);
    const edits = new Map<string, string>();
    for (const [key, value] of Object.entries(values)) {
      const written = memberValue(plugin.document, key);
      if (written === undefined || written === "") edits.set(key, JSON.stringify(value));
      else if (written !== value)
        return failed(
          fault(
            "CLAIM_UNUSABLE",
            `${what}: ${where}.${key} is ${quote(String(written), 40)}, but the claimed device is ${quote(value, 40)}; leave the key out, or claim a device of that link`,
          ),
        );
    }
    if (edits.size === 0) return ok(plugin);
    const document = parseDocument(editMembers(plugin.document, edits), { what: where });
    return document.ok ? ok({ ...plugin, document: document.value }) : document;
  });
}

function vlanProblem(plugin: PluginConf, { vlans }: ClaimedLink): string | undefined {
  if (vlans === undefined) return undefined;
  const range = `${vlans.first}-${vlans.last}`;
  const id = vlanKeys.map((key) => memberValue(plugin.document, key)).find((value) => value !== undefined);
  if (typeof id === "number" && id >= vlans.first && id <= vlans.last) return undefined;
  return `the claimed device is for VLANs ${range}, but the first plugin has ${id === undefined ? "no vlanId or vlan" : `VLAN ${String(id)}`}`;
}

function exclusiveProblem(type: string, { name, isExclusive }: ClaimedLink): string {
  return isExclusive
    ? `link ${name} is exclusive and moves into the pod, which plugin ${quote(type, 40)} does not do; use host-device or sriov`
    : `plugin ${quote(type, 40)} moves a link into the pod, but link ${name} is shared with other claims; claim an exclusive device`;
}
