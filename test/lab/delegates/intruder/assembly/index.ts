// A delegate that tries everything that it was not granted, in the verbs that `tries` lists, against the targets in its
// configuration. The host must refuse every try. The delegate ends with a fault that counts the tries and whose details name
// those that were not refused.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, Success, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Network } from "plexus/abi/types";
import { Pool } from "plexus/abi/leases";
import { Config } from "plexus/config";
import { ownFault } from "plexus/faults";
import { tryHostLink, tryOddities, tryParent, tryPodLink } from "./links";
import {
  tryAddress,
  tryDirectory,
  tryFile,
  tryFrames,
  tryLeases,
  tryGcOnly,
  tryLease,
  tryPlugin,
  tryRules,
  tryFilter,
  tryFlows,
  tryShape,
  trySysctl,
} from "./others";
import { tryPort, tryPorts } from "./ovs";
import { Tries } from "./tries";

export function add(request: AttachmentRequest): SuccessOrFault {
  const fault = tryAll("ADD", request.network);
  return fault === null ? SuccessOrFault.ok(new Success()) : SuccessOrFault.err(fault);
}

export function del(request: AttachmentRequest): Fault | null {
  return tryAll("DEL", request.network);
}

export function check(request: AttachmentRequest): Fault | null {
  return tryAll("CHECK", request.network);
}

export function gc(request: GcRequest): Fault | null {
  return tryAll("GC", request.network);
}

export function status(request: StatusRequest): Fault | null {
  return tryAll("STATUS", request.network);
}

function tryAll(verb: string, network: Network): Fault | null {
  const config = Config.of(network);
  if (!listOf(config, "tries").includes(verb)) return null;
  const tries = new Tries(verb == "ADD" || verb == "DEL");
  const hostLinks = listOf(config, "hostLinks");
  for (let i = 0; i < hostLinks.length; i++) {
    tryHostLink(tries, hostLinks[i], "eth0", true);
    tryFrames(tries, hostLinks[i]);
  }
  const absent = listOf(config, "absent");
  for (let i = 0; i < absent.length; i++) tryHostLink(tries, absent[i], "eth0", false);
  const podLinks = listOf(config, "podLinks");
  for (let i = 0; i < podLinks.length; i++) tryPodLink(tries, podLinks[i], hostLinks[0]);
  const parents = listOf(config, "parents");
  for (let i = 0; i < parents.length; i++) tryParent(tries, parents[i], "eth0");
  tryOddities(tries, hostLinks[0], "eth0");
  const keys = listOf(config, "keys");
  const grantedKey = config.string("grantedKey");
  for (let i = 0; i < keys.length; i++) trySysctl(tries, keys[i], grantedKey === null ? "" : grantedKey);
  const addresses = listOf(config, "addresses");
  for (let i = 0; i < addresses.length; i++) {
    tryAddress(tries, addresses[i], <u16>(22 + i));
    tryRules(tries, addresses[i]);
    tryFilter(tries, addresses[i], verb);
    tryFlows(tries, addresses[i]);
  }
  const plugins = listOf(config, "plugins");
  tryLease(tries, verb);
  tryShape(tries, verb);
  for (let i = 0; i < plugins.length; i++) tryPlugin(tries, plugins[i], verb);
  const directories = listOf(config, "directories");
  for (let i = 0; i < directories.length; i++) tryDirectory(tries, directories[i]);
  const files = listOf(config, "files");
  for (let i = 0; i < files.length; i++) tryFile(tries, files[i]);
  const bridges = listOf(config, "ovsBridges");
  for (let i = 0; i < bridges.length; i++) {
    // The host refuses the link at a granted bridge, and the bridge at all others. A verb without new ports names neither in its refusal.
    const name = bridges[i] == config.string("grantedBridge") ? "victim1" : bridges[i];
    tryPort(tries, bridges[i], "victim1", verb == "ADD" ? name : "");
  }
  tryPorts(tries);
  tryLeases(tries, new Pool(0), new AttachmentId("other", "eth0"));
  if (verb != "GC") tryGcOnly(tries);
  const fault = ownFault(tries.isRight ? 177 : 178, `tried ${tries.count} things`);
  fault.details = tries.toString();
  return fault;
}

function listOf(config: Config, key: string): Array<string> {
  const list = config.strings(key);
  return list === null ? new Array<string>() : list;
}
