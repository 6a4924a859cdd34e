// Converts results between the versions' shapes (L-51..L-57). Keeps, drops and refuses the same things as libcni's converters.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { familyOf } from "./read-result.ts";
import type { CniResult, PluginResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result.ts";
import { type CniVersion, DEFAULT_VERSION, isSupportedVersion, type VersionGroup, versionGroup } from "./versions.ts";

/** `{ key: list }`, or nothing for an empty list: empty lists are not printed. */
function listed<T>(key: string, list: readonly T[]): Readonly<Record<string, readonly T[]>> {
  return list.length === 0 ? {} : { [key]: list };
}

/** `{ key: value }`, or nothing for an absent value. */
function present<Key extends string>(key: Key, value: string | undefined): Partial<Record<Key, string>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, string>);
}

function printableDns(dns: ResultDns | undefined): object {
  if (dns === undefined) return {};
  return {
    ...listed("nameservers", dns.nameservers),
    ...present("domain", dns.domain),
    ...listed("search", dns.search),
    ...listed("options", dns.options),
  };
}

/** The part of a result that the shape of `cniVersion` can hold (L-54, L-55). */
function reduce(result: CniResult, cniVersion: CniVersion): CniResult {
  const group = versionGroup(cniVersion);
  if (group === "100") return { ...result, cniVersion };
  if (group === "040") return { ...result, cniVersion, interfaces: result.interfaces.map(oldInterface) };
  // The first address of each family, IPv4 first, and the routes of these families with only dst and gw.
  const ips: ResultIp[] = [];
  const routes: ResultRoute[] = [];
  for (const family of ["4", "6"] as const) {
    const ip = result.ips.find(({ address }) => familyOf(address) === family);
    if (ip === undefined) continue;
    ips.push({ address: ip.address, ...present("gateway", ip.gateway) });
    const familyRoutes = result.routes.filter(({ dst }) => familyOf(dst) === family);
    routes.push(...familyRoutes.map(({ dst, gw }) => ({ dst, ...present("gw", gw) })));
  }
  return { ...result, cniVersion, interfaces: [], ips, routes };
}

function oldInterface({ name, mac, sandbox }: ResultInterface): ResultInterface {
  return { name, ...present("mac", mac), ...present("sandbox", sandbox) };
}

function print100({ cniVersion, interfaces, ips, routes, dns }: CniResult): object {
  return {
    cniVersion,
    ...listed("interfaces", interfaces),
    ...listed("ips", ips),
    ...listed("routes", routes),
    ...(dns === undefined ? {} : { dns: printableDns(dns) }),
  };
}

function print040({ cniVersion, interfaces, ips, routes, dns }: CniResult): object {
  const versioned = ips.map((ip) => ({ version: familyOf(ip.address), ...ip }));
  return {
    cniVersion,
    ...listed("interfaces", interfaces),
    ...listed("ips", versioned),
    ...listed("routes", routes),
    // Present even if empty, as Go's struct prints it.
    dns: printableDns(dns),
  };
}

function print020({ cniVersion, ips, routes, dns }: CniResult): object {
  const addresses = ips.map(({ address, gateway }) => {
    const family = familyOf(address);
    const familyRoutes = routes.filter(({ dst }) => familyOf(dst) === family);
    return [`ip${family}`, { ip: address, ...present("gateway", gateway), ...listed("routes", familyRoutes) }] as const;
  });
  return { cniVersion, ...Object.fromEntries(addresses), dns: printableDns(dns) };
}

const PRINTERS: Readonly<Record<VersionGroup, (result: CniResult) => object>> = {
  "020": print020,
  "040": print040,
  "100": print100,
};

function convert(result: CniResult, cniVersion: CniVersion): Result<PluginResult> {
  const reduced = reduce(result, cniVersion);
  const group = versionGroup(cniVersion);
  if (group === "020" && reduced.ips.length === 0) {
    return failed(fault("RESULT_INVALID", "cannot convert: no valid IP addresses", { details: `CNI ${cniVersion} needs one` }));
  }
  return ok({ text: JSON.stringify(PRINTERS[group](reduced)), result: reduced });
}

/**
 * Prints a result in a version's shape, on one line. Fault: RESULT_INVALID (6) if a result without any address is wanted in 0.1.0
 * or 0.2.0.
 */
export function printResult(result: CniResult, cniVersion: CniVersion): Result<string> {
  const converted = convert(result, cniVersion);
  return converted.ok ? ok(converted.value.text) : converted;
}

/**
 * Converts a result to the version `target` (empty means 0.1.0). Within a group only the label changes (L-52), so the text keeps
 * fields that Plexus does not know. Faults: VERSION_UNSUPPORTED (1) for an unknown version; RESULT_INVALID (6) if the target's
 * shape cannot hold the result.
 */
export function convertResult(from: PluginResult, target: string): Result<PluginResult> {
  const { result, text } = from;
  const cniVersion = target === "" ? DEFAULT_VERSION : target;
  if (cniVersion === result.cniVersion) return ok(from);
  if (!isSupportedVersion(cniVersion)) {
    const msg = `no converter for CNI result version ${result.cniVersion} to ${quote(target, 40).slice(1, -1)}`;
    return failed(fault("VERSION_UNSUPPORTED", msg));
  }
  if (versionGroup(cniVersion) === versionGroup(result.cniVersion)) {
    const document = parseDocument(text, { what: "result", kind: "RESULT_INVALID" });
    if (!document.ok) return document;
    const relabelled = editMembers(document.value, new Map([["cniVersion", JSON.stringify(cniVersion)]]));
    return ok({ text: relabelled, result: { ...result, cniVersion } });
  }
  return convert(result, cniVersion);
}
