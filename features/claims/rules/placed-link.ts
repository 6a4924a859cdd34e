// The claimed link in a network's list: the first plugin gets the link, or must have it already. A pod that claims one link and attaches to another would
// take what the scheduler has not counted, so no other key, no later plugin and no IPAM plugin may choose a link or a VLAN.

import { editMembers, isJsonObject, memberValue, parseDocument } from "../../../src/json/document.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { foldedKey } from "../../../src/json/folded-key.ts";
import { quote } from "../../../src/json/quote.ts";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { withPlugins } from "../../../src/npwg/network-plugins.ts";
import { choosesLink, type LinkPlacement, linkPlacements } from "./link-placement.ts";
import type { ClaimedLink } from "./prepared-claim.ts";

/**
 * The list with the link in its first plugin. `what` names the network in messages. `isTrusted`: the list is an administrator's, who knows whether other claims
 * share the link. Fault CLAIM_UNUSABLE.
 */
export function placedLink(list: NetworkList, link: ClaimedLink, what: string, isTrusted: boolean): Result<NetworkList> {
  const [first, ...later] = list.plugins;
  if (first === undefined) return ok(list);
  const refused = (why: string): Result<NetworkList> => failed(fault("CLAIM_UNUSABLE", `${what}: ${why}`));
  const placement = placementOf(first.type);
  if (placement === undefined)
    return refused(
      `plugin ${quote(first.type, 40)} has no key for a claimed link; known are ${Object.keys(linkPlacements).join(", ")}`,
    );
  if (placement.moves !== link.isExclusive) return refused(movesProblem(first.type, link));
  const value = placement.names === "link" ? link.name : link.pciAddress;
  if (value === undefined) return refused(`link ${link.name} has no PCI address, which plugin ${quote(first.type, 40)} needs`);
  const second = later.findIndex(({ type }) => choosesLink(type));
  if (second !== -1)
    return refused(
      `plugins[${second + 1}] is ${quote(later[second]?.type ?? "", 40)}, which attaches a second link; only the first plugin may attach a link that is claimed`,
    );
  const called = list.plugins.flatMap(ipamTypesOf).find(choosesLink);
  if (called !== undefined)
    return refused(`the list has ipam.type ${quote(called, 40)}, which attaches a second link; name a plugin for addresses`);
  const problem =
    keyProblem(first, placement, link) ??
    vlanProblem(first, placement, link) ??
    (isTrusted ? undefined : takesAllProblem(first, placement));
  return problem === undefined ? withLink(list, placement.link, value, what) : refused(problem);
}

/** The plugins that a plugin calls for addresses, with its own configuration; Go takes keys in any case. */
function ipamTypesOf({ document }: PluginConf): readonly string[] {
  const types = valuesIn(document.parsed, "ipam").flatMap((ipam) => valuesIn(ipam, "type"));
  return types.filter((type): type is string => typeof type === "string");
}

function valuesIn(value: unknown, name: string): readonly unknown[] {
  return isJsonObject(value) ? Object.keys(value).flatMap((key) => (foldedKey(key) === name ? [value[key]] : [])) : [];
}

function placementOf(type: string): LinkPlacement | undefined {
  return Object.hasOwn(linkPlacements, type) ? linkPlacements[type] : undefined;
}

function withLink(list: NetworkList, key: string, value: string, what: string): Result<NetworkList> {
  const [first] = list.plugins;
  return withPlugins(list, (plugin, where): Result<PluginConf> => {
    if (plugin !== first) return ok(plugin);
    const written = memberValue(plugin.document, key);
    if (written === value) return ok(plugin);
    if (written !== undefined && written !== "")
      return failed(
        fault(
          "CLAIM_UNUSABLE",
          `${what}: ${where}.${key} is ${quote(String(written), 40)}, but the claimed device is ${quote(value, 40)}; leave the key out, or claim a device of that link`,
        ),
      );
    const document = parseDocument(editMembers(plugin.document, new Map([[key, JSON.stringify(value)]])), { what: where });
    return document.ok ? ok({ ...plugin, document: document.value }) : document;
  });
}

/** Keys that choose another link or VLAN, and other spellings of keys: plugins in Go ignore the case of a key, and the last spelling counts. */
function keyProblem({ document, type }: PluginConf, placement: LinkPlacement, { vlans }: ClaimedLink): string | undefined {
  const own = placement.vlan === undefined ? [placement.link] : [placement.link, placement.vlan];
  for (const key of document.members.keys()) {
    const exact = spellingOf(own, key);
    if (exact !== undefined && exact !== key) return `plugins[0].${quote(key, 40)} must be written as ${exact}`;
    const isOfLink = spellingOf(placement.otherLinks, key) !== undefined;
    const isSet = memberValue(document, key) !== false;
    const isOfVlan = vlans !== undefined && isSet && spellingOf(placement.otherVlans, key) !== undefined;
    if (isOfLink || isOfVlan)
      return `plugins[0].${quote(key, 40)} of ${quote(type, 40)} can choose another ${isOfLink ? "link" : "VLAN"} than the claimed device's; leave the key out`;
  }
  return undefined;
}

function takesAllProblem({ document }: PluginConf, { takesAll }: LinkPlacement): string | undefined {
  if (takesAll === undefined) return undefined;
  const { key: wanted, value } = takesAll;
  const key = [...document.members.keys()].find((each) => foldedKey(each) === wanted && memberValue(document, each) === value);
  if (key === undefined) return undefined;
  return `plugins[0].${quote(key, 40)} ${value} takes the whole link, which is shared with other claims; only the list of a class may have it`;
}

/** The key among `keys` that Go takes for this one. */
function spellingOf(keys: readonly string[], key: string): string | undefined {
  return keys.find((each) => foldedKey(each) === foldedKey(key));
}

function vlanProblem({ document, type }: PluginConf, { vlan }: LinkPlacement, { vlans }: ClaimedLink): string | undefined {
  if (vlans === undefined) return undefined;
  const range = `${vlans.first}-${vlans.last}`;
  if (vlan === undefined) return `the claimed device is for VLANs ${range}, but plugin ${quote(type, 40)} has no key for a VLAN`;
  const id = memberValue(document, vlan);
  if (typeof id === "number" && Number.isInteger(id) && id >= vlans.first && id <= vlans.last) return undefined;
  return `the claimed device is for VLANs ${range}, but the first plugin has ${id === undefined ? `no ${vlan}` : `${vlan} ${quote(String(id), 40)}`}`;
}

function movesProblem(type: string, { name, isExclusive }: ClaimedLink): string {
  return isExclusive
    ? `link ${name} is exclusive and moves into the pod, which plugin ${quote(type, 40)} does not do; use host-device or sriov`
    : `plugin ${quote(type, 40)} moves a link into the pod, but link ${name} is shared with other claims; claim an exclusive device`;
}
