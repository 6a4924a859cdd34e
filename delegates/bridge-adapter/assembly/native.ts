// `"backend": "native"`: IPAM is called here, and the native plugin bridge does the rest. It gets the addresses and routes as a
// configuration of the native plugin static, which answers with them.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import { Arg, Dns, Fault, IpConfig, Network, Route, Success } from "plexus/abi/types";
import { Config } from "plexus/config";
import { cniArg } from "plexus/conventions";
import { invalidEnvironment } from "plexus/faults";
import { Json, sameInAnyCase } from "plexus/json";
import { unusableIpamResult } from "./faults";
import { Settings } from "./settings";
import { addUndoFault } from "plexus/undo-faults";

const bridge = "bridge";

/** Calls IPAM, then the native plugin with IPAM's result. After a fault the addresses are released. */
export function addNatively(request: AttachmentRequest, settings: Settings): SuccessOrFault {
  if (!settings.isLayer3) return delegation.add(bridge, withStatic(request.network, settings, null));
  // static would add this address to those of its configuration.
  if (hasArg(request.attachment.args, "IP"))
    return SuccessOrFault.err(invalidEnvironment('CNI_ARGS: IP can\'t be used with "backend": "native"; use the capability ips'));
  const ipamAnswer = delegation.add(settings.ipam, null);
  if (!ipamAnswer.isOk) return ipamAnswer;
  const answered =
    ipamAnswer.value.ips.length == 0
      ? SuccessOrFault.err(unusableIpamResult(settings, "it has no addresses"))
      : delegation.add(bridge, withStatic(request.network, settings, ipamAnswer.value));
  if (!answered.isOk) {
    addUndoFault(delegation.del(settings.ipam, null), answered.error, "its addresses were not released");
    return answered;
  }
  // Older versions of the native plugin omit IPAM's dns.
  if (isEmpty(answered.value.dns)) answered.value.dns = ipamAnswer.value.dns;
  return answered;
}

/** The native plugin's DEL first: no other pod may get the addresses while this pod has them. */
export function delNatively(request: AttachmentRequest, settings: Settings): Fault | null {
  const failed = delegation.del(bridge, withStatic(request.network, settings, request.prevResult));
  if (!settings.isLayer3) return failed;
  const released = delegation.del(settings.ipam, null);
  if (failed === null) return released;
  addUndoFault(released, failed, "its addresses were not released");
  return failed;
}

/** Calls CHECK of IPAM, then of the native plugin. */
export function checkNatively(request: AttachmentRequest, settings: Settings): Fault | null {
  if (settings.isLayer3) {
    const failed = delegation.check(settings.ipam, null);
    if (failed !== null) return failed;
  }
  return delegation.check(bridge, withStatic(request.network, settings, request.prevResult));
}

/**
 * The native plugin's configuration: without `backend`, with `ipam` replaced by static's, and without other keys that static
 * reads as addresses.
 */
function withStatic(network: Network, settings: Settings, success: Success | null): string {
  const json = Config.of(network).json;
  const made = Json.object();
  for (let i = 0; i < json.length; i++) {
    const key = json.keyAt(i);
    if (sameInAnyCase(key, "backend") || sameInAnyCase(key, "ipam")) continue;
    const hasIps = sameInAnyCase(key, "runtimeConfig") || sameInAnyCase(key, "args");
    made.append(key, hasIps ? withoutIps(json.at(i)) : json.at(i));
  }
  made.set("type", Json.string(bridge));
  if (settings.isLayer3) made.set("ipam", staticIpam(success));
  return made.toString();
}

/** The object and its nested objects without `ips`. */
function withoutIps(json: Json): Json {
  if (!json.isObject) return json;
  const made = Json.object();
  for (let i = 0; i < json.length; i++) {
    if (!sameInAnyCase(json.keyAt(i), "ips")) made.append(json.keyAt(i), withoutIps(json.at(i)));
  }
  return made;
}

function staticIpam(success: Success | null): Json {
  const ipam = Json.object().set("type", Json.string("static"));
  if (success === null) return ipam;
  const addresses = Json.array();
  for (let i = 0; i < success.ips.length; i++) addresses.push(addressOf(success.ips[i]));
  const routes = Json.array();
  for (let i = 0; i < success.routes.length; i++) routes.push(routeOf(success.routes[i]));
  ipam.set("addresses", addresses).set("routes", routes);
  const dns = success.dns;
  if (dns !== null) ipam.set("dns", dnsOf(dns));
  return ipam;
}

function addressOf(ip: IpConfig): Json {
  const made = Json.object().set("address", Json.string(ip.address));
  const gateway = ip.gateway;
  return gateway === null ? made : made.set("gateway", Json.string(gateway));
}

function routeOf(route: Route): Json {
  const made = Json.object().set("dst", Json.string(route.dst));
  const gw = route.gw;
  if (gw !== null) made.set("gw", Json.string(gw));
  const mtu = route.mtu;
  if (mtu !== null) made.set("mtu", Json.integer(mtu.value));
  const advmss = route.advmss;
  if (advmss !== null) made.set("advmss", Json.integer(advmss.value));
  const priority = route.priority;
  if (priority !== null) made.set("priority", Json.integer(priority.value));
  const table = route.table;
  if (table !== null) made.set("table", Json.integer(table.value));
  const scope = route.scope;
  if (scope !== null) made.set("scope", Json.integer(scope.value));
  return made;
}

function dnsOf(dns: Dns): Json {
  const made = Json.object();
  if (dns.nameservers.length > 0) made.set("nameservers", textsOf(dns.nameservers));
  const domain = dns.domain;
  if (domain !== null) made.set("domain", Json.string(domain));
  if (dns.search.length > 0) made.set("search", textsOf(dns.search));
  if (dns.options.length > 0) made.set("options", textsOf(dns.options));
  return made;
}

function textsOf(texts: Array<string>): Json {
  const made = Json.array();
  for (let i = 0; i < texts.length; i++) made.push(Json.string(texts[i]));
  return made;
}

function hasArg(args: Array<Arg>, key: string): bool {
  const value = cniArg(args, key);
  return value !== null && value != "";
}

function isEmpty(dns: Dns | null): bool {
  if (dns === null) return true;
  return dns.nameservers.length == 0 && dns.search.length == 0 && dns.options.length == 0 && dns.domain === null;
}
