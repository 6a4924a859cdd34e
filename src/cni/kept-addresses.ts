// The same attachment once more, with the addresses that it has: its IPAM plugin keeps the lease and is not called.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { boundedJson } from "../json/bounded-json.ts";
import { editMembers, memberValue, isJsonObject } from "../json/document.ts";
import { defaultFamilyOf } from "../npwg/default-route.ts";
import { addressesOf, sandboxInterfaces } from "../npwg/sandbox-interface.ts";
import type { Attachment } from "./attachment.ts";
import { printCniArgs, splitCniArgs } from "./environment.ts";
import { type NetworkList, parsePluginConf, type PluginConf } from "./network-list.ts";
import type { CniResult, ResultIp } from "./result.ts";

/** The IPAM plugin that answers the addresses of its configuration. */
export const keepingIpam = "static";

/**
 * The list with `static` in the place of each IPAM plugin, which answers the addresses, routes and DNS settings of `result`. Neither an ADD nor a DEL of this
 * list touches a lease. Faults: those of `parsePluginConf`; HOT_PLUG_REFUSED for a result with addresses of a list without IPAM: its plugin may give others.
 */
export function keepAddresses(list: NetworkList, result: CniResult): Result<NetworkList> {
  if (result.ips.length > 0 && list.plugins.every(({ ipamType }) => ipamType === undefined)) {
    const why = `network ${list.name}: no plugin of its list has ipam.type, so the same addresses cannot be asked for`;
    return failed(fault("HOT_PLUG_REFUSED", why));
  }
  const plugins: PluginConf[] = [];
  for (const plugin of list.plugins) {
    const kept = plugin.ipamType === undefined ? ok(plugin) : withStatic(plugin, result);
    if (!kept.ok) return kept;
    plugins.push(kept.value);
  }
  return ok({ ...list, plugins });
}

function withStatic(plugin: PluginConf, { ips, routes, dns }: CniResult): Result<PluginConf> {
  // The plugin itself adds the default routes of isDefaultGateway (and of its Go spelling in any case).
  const addsDefault = memberValue(plugin.document, "isDefaultGateway") === true;
  const ipam = {
    type: keepingIpam,
    addresses: ips.map(({ address, gateway }) => (gateway === undefined ? { address } : { address, gateway })),
    routes: addsDefault ? routes.filter(({ dst, table }) => defaultFamilyOf(dst, table) === undefined) : routes,
    ...(dns === undefined ? {} : { dns }),
  };
  return parsePluginConf(
    editMembers(plugin.document, new Map([["ipam", JSON.stringify(ipam)]])),
    `configuration of plugin ${plugin.type}`,
  );
}

/**
 * The attachment with a request for this hardware address, in the three ways that plugins know. Requests for addresses are left out: the list has them.
 */
export function withSameMac({ args, capabilityArgs, ...attachment }: Attachment, mac: string): Attachment {
  const pairs = splitCniArgs(args).filter(([key]) => !["MAC", "IP", "GATEWAY", "IgnoreUnknown"].includes(key));
  const kept = [...capabilityArgs].filter(([name]) => name !== "ips" && name !== "mac");
  return {
    ...attachment,
    args: printCniArgs([["IgnoreUnknown", "1"], ...pairs, ...(mac === "" ? [] : [["MAC", mac] as const])]),
    capabilityArgs: new Map([...kept, ...(mac === "" ? [] : [["mac", JSON.stringify(mac)] as const])]),
  };
}

/** The addresses of the attachment's interface in a result, sorted. */
export function addressTexts(result: CniResult, ifname: string): readonly string[] {
  const own = sandboxInterfaces(result).find((each) => each.interface.name === ifname);
  const ips: readonly ResultIp[] = own === undefined ? result.ips : addressesOf(result, own.index);
  return ips.map(({ address }) => address).toSorted();
}

/** A result's text with this hardware address of the interface. */
export function withResultMac(text: string, ifname: string, mac: string): string {
  const result = boundedJson(text);
  const interfaces = isJsonObject(result) ? result["interfaces"] : undefined;
  if (!isJsonObject(result) || !Array.isArray(interfaces)) return text;
  const changed = interfaces.map((each: unknown) =>
    isJsonObject(each) && each["name"] === ifname && (each["sandbox"] ?? "") !== "" ? { ...each, mac } : each,
  );
  return JSON.stringify({ ...result, interfaces: changed });
}
