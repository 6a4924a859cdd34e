// Checks all operations against the scope before the first one is carried out. No I/O: the kinds of the node's links are verified when
// they are read (verify-links.ts).

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { vlanRange } from "../../../src/configuration/grant-patterns.ts";
import { quote } from "../../../src/json/quote.ts";
import type { LinksLinkName, LinksOperation, LinksVfSettings } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkUse, linkUsesOf, type Use, nodeUseRules } from "./link-uses.ts";
import { denied, isListed, linkText, type LinkScope, mayBeMadeInPod, misused, operationText, rolesByName } from "./link-scope.ts";
import { type LinkAliases, learnAliases } from "./link-aliases.ts";
import type { Namespaces } from "./namespaces.ts";
import { networkOutsideGrant, ungrantedNodeAddress } from "./networks.ts";
import { selectorText } from "./devices/selector-text.ts";
import { nameMistake, operationMistake } from "./operation-mistake.ts";

/** Maximum number of operations in one call; attaching a pod needs far fewer. */
const maxOperations = 256;
/** Maximum wait of all `settle` operations of one call, in milliseconds: the runtime waits for them even where the delegate was ended meanwhile. */
const maxSettleMs = 30_000;

/** The links that are used and that no earlier operation makes. All must be read before the first change, except links of the pod that are only removed. */
export interface UsedLinks {
  readonly host: ReadonlyMap<string, readonly Usage[]>;
  readonly pod: ReadonlySet<string>;
}

/** One use of a link by an operation. */
export interface Usage {
  readonly use: Use;
  /** The operation, as faults name it. */
  readonly label: string;
}

/** Faults: NOT_GRANTED, CAPABILITY_MISUSED; each names the operation and the link. */
export function checkOperations(scope: LinkScope, operations: readonly LinksOperation[]): Result<UsedLinks> {
  if (scope.verb !== "ADD" && scope.verb !== "DEL")
    return failed(misused(`apply is allowed in ADD and DEL only, and this call is ${scope.verb}`));
  if (operations.length > maxOperations)
    return failed(misused(`${operations.length} operations exceed the maximum of ${maxOperations}`));
  const host = new Map<string, Usage[]>();
  const pod = new Set<string>();
  const madeNames = { host: new Set<string>(), pod: new Set<string>() };
  let settlingMs = 0;
  for (const [number, operation] of operations.entries()) {
    const label = operationText(number, operation.tag);
    const mistake = operationMistake(operation);
    if (mistake !== undefined) return failed(misused(`${label}: ${mistake}`));
    settlingMs += operation.tag === "settle" ? operation.val.milliseconds : 0;
    if (settlingMs > maxSettleMs)
      return failed(misused(`${label}: waiting for ${settlingMs} ms in total exceeds the maximum of ${maxSettleMs} ms`));
    if (operation.tag === "take-device" && (scope.verb !== "ADD" || scope.attachment?.netns === ""))
      return failed(
        misused(
          `${label}: the device of the node with ${selectorText(operation.val.device)}: a device moves into a pod in ADD only`,
        ),
      );
    if (operation.tag === "take-device" && (scope.grant.devices ?? []).length === 0)
      return failed(denied(scope, "devices", `${label}: the device of the node with ${selectorText(operation.val.device)}`));
    const context = operation.tag === "add-tap" ? operation.val.selinuxContext : undefined;
    if (context !== undefined && !isListed(scope.grant.selinuxContexts, context))
      return failed(denied(scope, "selinuxContexts", `${label}: the SELinux context ${quote(context, 200)}`));
    const checked = operation.tag === "set-vf" ? checkFunction(scope, label, operation.val) : ok(undefined);
    if (!checked.ok) return checked;
    const forwarding = forwardingRequest(operation);
    if (forwarding !== undefined && scope.grant.forwarding !== true)
      return failed(denied(scope, "forwarding", `${label}: ${forwarding}`));
    for (const linkUse of linkUsesOf(operation)) {
      const { place, name, use } = linkUse;
      const allowed = madeNames[place].has(name) ? checkNewLink(scope, label, linkUse) : checkExistingLink(scope, label, linkUse);
      if (!allowed.ok) return allowed;
      if (use === "make") madeNames[place].add(name);
      else if (madeNames[place].has(name)) {
        if (use === "remove") madeNames[place].delete(name);
      } else if (place === "host") host.set(name, [...(host.get(name) ?? []), { use, label }]);
      else if (use !== "remove") pod.add(name);
    }
    const outside = networkOutsideGrant(scope, operation);
    if (outside !== undefined) return failed(denied(scope, outside.key, `${label}: ${outside.request}`));
    const ungranted = ungrantedNodeAddress(scope, operation);
    if (ungranted !== undefined) return failed(denied(scope, ungranted.key, `${label}: ${ungranted.request}`));
  }
  return ok({ host, pod });
}

/**
 * Runs a check. If the grant refuses a name, the check runs once more with the alternative names of the node's links: the grant counts for a link's own
 * name.
 */
export async function checkedWithAliases(
  { aliases }: { readonly aliases: LinkAliases },
  namespaces: Namespaces,
  hostNames: readonly string[],
  check: () => Result<UsedLinks>,
): Promise<Result<UsedLinks>> {
  const checked = check();
  if (checked.ok || checked.fault.kind !== "NOT_GRANTED") return checked;
  return (await learnAliases(namespaces, aliases, hostNames)) ? check() : checked;
}

/** As `checkOperations`, for links that are only read. */
export function checkNames(scope: LinkScope, names: readonly LinksLinkName[]): Result<UsedLinks> {
  if (names.length > maxOperations) return failed(misused(`${names.length} links exceed the maximum of ${maxOperations}`));
  const host = new Map<string, Usage[]>();
  const pod = new Set<string>();
  for (const { place, name } of names) {
    const mistake = nameMistake(name, place === "host");
    if (mistake !== undefined) return failed(misused(`read: ${mistake}`));
    const allowed = checkExistingLink(scope, "read", { place, name, use: "read" });
    if (!allowed.ok) return allowed;
    if (place === "pod") pod.add(name);
    else host.set(name, [{ use: "read", label: "read" }]);
  }
  return ok({ host, pod });
}

/** A virtual function that an attachment sets: its VLANs, its trust and a missing spoof check need grants of their own. */
function checkFunction(scope: LinkScope, label: string, settings: LinksVfSettings): Result<void> {
  const { grant, verb, attachment } = scope;
  const { pciAddress, vlan, trust, spoofCheck } = settings;
  const request = `${label}: virtual function ${pciAddress}`;
  if (verb !== "ADD" || attachment?.netns === "") return failed(misused(`${request}: a virtual function is set in ADD only`));
  if ((grant.devices ?? []).length === 0) return failed(denied(scope, "devices", request));
  const ranges = (grant.vfVlans ?? []).flatMap((text) => vlanRange(text) ?? []);
  if (vlan !== undefined && !ranges.some(({ first, last }) => vlan >= first && vlan <= last))
    return failed(denied(scope, "vfVlans", `${request}: VLAN ${vlan}`));
  const power = trust === true ? "its trust" : spoofCheck === false ? "no spoof check" : undefined;
  return power === undefined || grant.vfTrust === true ? ok(undefined) : failed(denied(scope, "vfTrust", `${request}: ${power}`));
}

/** The request to change forwarding on the node, for messages; undefined for other operations. */
function forwardingRequest(operation: LinksOperation): string | undefined {
  if (operation.tag === "enable-forwarding") return `enabling ${operation.val} forwarding on the node`;
  if (operation.tag !== "set-interface" || operation.val.name !== "forwarding" || operation.val.link.place !== "host")
    return undefined;
  return `changing the setting forwarding of ${linkText("host", operation.val.link.name)}`;
}

/** Checks the use of a link that an earlier operation of the call makes. On the node such a link gets no ports or upper links. */
function checkNewLink(scope: LinkScope, label: string, { place, name, use }: LinkUse): Result<void> {
  if (use === "make") return failed(misused(`${label}: an earlier operation already makes ${linkText(place, name)}`));
  if (place === "pod" || nodeUseRules[use].roles.includes("attachment")) return ok(undefined);
  return failed(denied(scope, nodeUseRules[use].key, `${label}: ${linkText(place, name)}`));
}

/** Checks the use of a link that no earlier operation makes, as far as its name tells. */
function checkExistingLink(scope: LinkScope, label: string, { place, name, use }: LinkUse): Result<void> {
  const link = linkText(place, name);
  if (place === "pod") {
    if (scope.attachment === undefined)
      return failed(misused(`${label}: ${link} cannot be used: a ${scope.verb} call has no pod`));
    const isAllowed = mayBeMadeInPod(scope, name) || (name === "lo" && use !== "make" && use !== "remove");
    return isAllowed ? ok(undefined) : failed(denied(scope, "podLinks", `${label}: ${link}`));
  }
  if (use === "make") return ok(undefined);
  const { roles, key } = nodeUseRules[use];
  const byName = rolesByName(scope, name);
  if (roles.some((role) => byName.has(role))) return ok(undefined);
  // Whether the link is the node's end of the attachment's veth is known only when it has been read.
  const mayBeNodeEnd = roles.includes("attachment") && scope.attachment !== undefined;
  return mayBeNodeEnd ? ok(undefined) : failed(denied(scope, key, `${label}: ${link}`));
}
