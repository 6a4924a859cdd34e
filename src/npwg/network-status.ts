// A pod's status annotation, k8s.v1.cni.cncf.io/network-status (NPWG 5): an entry for each attachment, made from its result.

import { utf8Length } from "../cni/attachment.ts";
import { familyOf } from "../cni/read-result.ts";
import type { CniResult, ResultDns, ResultIp } from "../cni/result.ts";
import { versionGroup } from "../cni/versions.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { defaultFamilyOf } from "./default-route.ts";
import type { NpwgProfile } from "./profile.ts";
import { addressesOf, type SandboxInterface, sandboxInterfaces, unboundAddresses } from "./sandbox-interface.ts";

/** The annotation's key. */
export const networkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** One attachment and its result. */
export interface AttachmentOutcome {
  /** `namespace/name` of the definition (5.3.1), or the default network's name if it has no definition. */
  readonly network: string;
  /** CNI_IFNAME of the attachment. */
  readonly ifname: string;
  /** True of exactly one attachment: the cluster's default network. */
  readonly isDefault: boolean;
  /** Undefined if the chain answered no result. */
  readonly result: CniResult | undefined;
  /** The selection's `default-route`, if present. */
  readonly defaultRoute?: readonly string[] | undefined;
  /** In the form of the Device Information Specification. */
  readonly deviceInfo?: Readonly<Record<string, unknown>> | undefined;
}

/** One entry of the status; keys in the order of section 5.3. */
interface StatusEntry {
  readonly name: string;
  readonly interface?: string | undefined;
  readonly ips?: readonly string[] | undefined;
  readonly mac?: string | undefined;
  /** Multus' key, which the specification lacks. */
  readonly mtu?: number | undefined;
  readonly default: boolean;
  readonly dns?: object | undefined;
  readonly "default-route"?: readonly string[] | undefined;
  /** Multus' key: the gateways of all default routes. */
  readonly gateway?: readonly string[] | undefined;
  readonly "device-info"?: Readonly<Record<string, unknown>> | undefined;
}

/** Kubernetes' limit for all annotations of an object, in bytes. */
const maxBytes = 262_144;

/**
 * The annotation's text, compact JSON. Every attachment has an entry, even without a result or interfaces (5.1.1), and exactly
 * one entry has `"default": true` (5.2). Faults: INTERNAL unless exactly one outcome is the default's; RESULT_INVALID if the text
 * exceeds Kubernetes' limit.
 */
export function networkStatus(outcomes: readonly AttachmentOutcome[], profile: NpwgProfile): Result<string> {
  const defaults = outcomes.filter((each) => each.isDefault).length;
  if (defaults !== 1)
    return failed(fault("INTERNAL", `network status: ${defaults} of ${outcomes.length} attachments are the default's`));
  const unnamed = outcomes.findIndex((each) => each.network === "");
  if (unnamed !== -1) return failed(fault("INTERNAL", `network status: attachment ${unnamed} has no name`));
  const text = JSON.stringify(outcomes.flatMap((each) => entriesOf(each, profile)));
  // A UTF-16 unit has at most three bytes: only a long text needs exact counting.
  if (text.length * 3 <= maxBytes) return ok(text);
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) return ok(text);
  return failed(fault("RESULT_INVALID", `the network status of all results has ${bytes} bytes; Kubernetes allows ${maxBytes}`));
}

function entriesOf(outcome: AttachmentOutcome, profile: NpwgProfile): StatusEntry[] {
  const { result } = outcome;
  if (result === undefined) return [{ name: outcome.network, default: outcome.isDefault }];
  const links = sandboxInterfaces(result);
  const [first, ...others] = links;
  const entries = [entryOf(outcome, result, first, true, profile)];
  if (profile.statusEveryInterface) {
    entries.push(...others.map((each) => entryOf(outcome, result, each, false, profile)));
  }
  return entries;
}

/**
 * `isFirst`: the attachment's main entry. Only this entry can be the default's, and only this entry has the fields of the whole
 * attachment.
 */
function entryOf(
  outcome: AttachmentOutcome,
  result: CniResult,
  link: SandboxInterface | undefined,
  isFirst: boolean,
  profile: NpwgProfile,
): StatusEntry {
  const addresses = addressesFor(result, link, isFirst, profile).map((ip) => shownAddress(ip, profile));
  const gateways = defaultGateways(result);
  // Results older than 0.3.0 do not name the interface (5.3.2.1).
  const before030 = versionGroup(result.cniVersion) === "020" ? outcome.ifname : undefined;
  const name = link === undefined ? before030 : nonBlank(link.interface.name);
  return {
    name: outcome.network,
    interface: name,
    ips: nonEmpty(addresses),
    // Not without the interface that has it (5.3.4).
    mac: name === undefined ? undefined : nonBlank(link?.interface.mac),
    mtu: profile.statusMultusKeys ? link?.interface.mtu : undefined,
    default: isFirst && outcome.isDefault,
    dns: isFirst ? shownDns(result.dns, profile) : undefined,
    "default-route": isFirst ? requestedRoutes(outcome.defaultRoute, gateways) : undefined,
    gateway: profile.statusMultusKeys && isFirst ? nonEmpty(gateways) : undefined,
    "device-info": isFirst ? outcome.deviceInfo : undefined,
  };
}

/** 5.3.3.1; addresses of the host's side are never shown. */
function addressesFor(
  result: CniResult,
  link: SandboxInterface | undefined,
  isFirst: boolean,
  profile: NpwgProfile,
): readonly ResultIp[] {
  if (link === undefined) return unboundAddresses(result);
  const linkAddresses = addressesOf(result, link.index);
  return isFirst && profile.statusUnboundAddresses ? [...linkAddresses, ...unboundAddresses(result)] : linkAddresses;
}

function shownAddress(ip: ResultIp, profile: NpwgProfile): string {
  const slash = ip.address.indexOf("/");
  return profile.statusPrefix || slash === -1 ? ip.address : ip.address.slice(0, slash);
}

/** Gateways of the main table's default routes, each once. A route without a gateway uses that of its family's address (CNI section 5). */
function defaultGateways(result: CniResult): readonly string[] {
  const gateways = result.routes.flatMap(({ dst, gw, table }) => {
    if (defaultFamilyOf(dst, table) === undefined) return [];
    const sameFamily = result.ips.find((ip) => ip.gateway !== undefined && familyOf(ip.address) === familyOf(dst));
    return gw ?? sameFamily?.gateway ?? [];
  });
  return [...new Set(gateways)];
}

/** 5.3.6.4: only if the selection had the key: its gateways, else the network's. */
function requestedRoutes(requested: readonly string[] | undefined, gateways: readonly string[]): readonly string[] | undefined {
  if (requested === undefined) return undefined;
  return requested.length > 0 ? requested : gateways;
}

function shownDns(dns: ResultDns | undefined, profile: NpwgProfile): object | undefined {
  if (dns === undefined) return undefined;
  const shown = {
    nameservers: nonEmpty(dns.nameservers),
    domain: nonBlank(dns.domain),
    search: nonEmpty(dns.search),
    options: profile.statusMultusKeys ? nonEmpty(dns.options) : undefined,
  };
  return Object.values(shown).some((each) => each !== undefined) ? shown : undefined;
}

function nonBlank(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
