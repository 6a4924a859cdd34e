// Tries every operation of the other capabilities on targets that are not granted.

import { probe, send } from "plexus/abi/announce";
import * as dhcp from "plexus/abi/dhcp";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import * as leases from "plexus/abi/leases";
import { Family, Place } from "plexus/abi/links";
import * as routing from "plexus/abi/routing";
import * as flows from "plexus/abi/flows";
import * as filter from "plexus/abi/filter";
import * as shaping from "plexus/abi/shaping";
import * as resolver from "plexus/abi/resolver";
import * as state from "plexus/abi/state";
import * as sysctl from "plexus/abi/sysctl";
import { AttachmentId } from "plexus/abi/types";
import { Some } from "plexus/some";
import { Tries } from "./tries";

/** Tries a sysctl. `granted` is a granted key or empty; together with a refused key it must not be written either. */
export function trySysctl(tries: Tries, key: string, granted: string): void {
  const seen = sysctl.read([key]);
  tries.refused(`read ${key}`, key, seen.isOk ? null : seen.error);
  const written = sysctl.write([new sysctl.Setting(key, "1")]);
  tries.refused(`write ${key}`, key, written.isOk ? null : written.error);
  if (granted == "") return;
  const both = sysctl.write([new sysctl.Setting(granted, "1"), new sysctl.Setting(key, "1")]);
  tries.refused(`write ${granted} and ${key}`, key, both.isOk ? null : both.error);
}

export function tryAddress(tries: Tries, address: string, port: u16): void {
  const masquerades = new firewall.Rules();
  masquerades.masquerades.push(new firewall.Masquerade(`${address}/24`));
  tries.refused(`masquerade ${address}`, "", firewall.replace(masquerades));
  const protocols = [firewall.Protocol.Tcp, firewall.Protocol.Udp, firewall.Protocol.Sctp];
  for (let i = 0; i < protocols.length; i++) {
    const rules = new firewall.Rules();
    const mapping = new firewall.PortMapping(protocols[i], port, `${address}/24`, 80, firewall.Masquerading.All);
    rules.portMappings.push(mapping);
    tries.refused(`port ${port} to ${address}`, "", firewall.replace(rules));
    const checked = firewall.check(rules);
    tries.refused(`check port ${port} to ${address}`, "", checked.isOk ? null : checked.error);
  }
  tries.refused(`announce ${address}`, "", send([address]));
  tryProbe(tries, [address], 11, 1);
  tryProbe(tries, [address], 1, 10_001);
  tryProbe(tries, [address], 0, 1);
  tryProbe(tries, [`${address}/24`], 1, 1);
  tryProbe(tries, new Array<string>(65).fill(address), 1, 1);
}

/** Tries leases beyond their bounds, and with options that the client sets itself. */
export function tryLease(tries: Tries, verb: string): void {
  const long = new dhcp.Request(30_001);
  const own = new dhcp.Request(1000);
  own.provided.push(new dhcp.OptionValue(53));
  const requests = [long, own];
  for (let i = 0; i < requests.length; i++) {
    const acquired = dhcp.acquire(requests[i]);
    tries.refused(`lease ${i}`, "", acquired.isOk ? null : acquired.error);
  }
  if (verb != "ADD" && verb != "DEL") tries.refused("release of a lease", "", dhcp.release());
  if (verb == "GC") return;
  const retained = dhcp.retain([]);
  tries.refused("GC of leases", "", retained.isOk ? null : retained.error);
}

/** Tries to accept packets of another attachment's address, to cut off pods of another bridge, to jump into chains of others, and to enter a zone of firewalld. */
export function tryFilter(tries: Tries, address: string, verb: string): void {
  const foreign = new filter.Acceptance("CNI-ADMIN", filter.IngressPolicy.Open);
  foreign.addresses.push(address);
  const chain = new filter.Acceptance("FORWARD", filter.IngressPolicy.Open);
  const other = new filter.Acceptance("DOCKER-USER", filter.IngressPolicy.Open);
  const cut = new filter.Acceptance("CNI-ADMIN", filter.IngressPolicy.Isolated);
  cut.bridge = "victim0";
  const zoned = new filter.Acceptance("CNI-ADMIN", filter.IngressPolicy.Open);
  zoned.zone = "trusted";
  const all = [foreign, chain, other, cut, zoned];
  for (let i = 0; i < all.length; i++) {
    tries.refused(`acceptance ${i} of ${address}`, "", filter.replace(all[i]));
    const differs = filter.difference(all[i]);
    tries.refused(`difference ${i} of ${address}`, "", differs.isOk ? null : differs.error);
  }
  if (verb == "GC") return;
  const retained = filter.retain([]);
  tries.refused("GC of acceptances", "", retained.isOk ? null : retained.error);
}

/** Tries to end the flows of another attachment. */
export function tryFlows(tries: Tries, address: string): void {
  const forgotten = flows.forget([address], []);
  tries.refused(`flows of ${address}`, "", forgotten.isOk ? null : forgotten.error);
}

/** Tries shapes beyond the bounds of a bucket, and the garbage of others. */
export function tryShape(tries: Tries, verb: string): void {
  const rates: StaticArray<u64> = [0, 8];
  const bursts: StaticArray<u64> = [80, 1 << 40];
  for (let i = 0; i < rates.length; i++) {
    const shape = new shaping.Shape();
    shape.ingress = new shaping.Bucket(rates[i], bursts[i], 25);
    const made = shaping.replace(shape);
    tries.refused(`shape ${i}`, "", made.isOk ? null : made.error);
  }
  if (verb == "GC") return;
  const retained = shaping.retain([]);
  tries.refused("GC of shapes", "", retained.isOk ? null : retained.error);
}

/** Tries probes beyond their bounds: the pod's network must not be searched for long. */
function tryProbe(tries: Tries, addresses: Array<string>, probes: u32, milliseconds: u32): void {
  const probed = probe(addresses, probes, milliseconds);
  tries.refused(`${probes} probes of ${addresses.length}`, "", probed.isOk ? null : probed.error);
}

/** Tries rules of the node: to redirect its own packets, to look up its main table, and without a priority. */
export function tryRules(tries: Tries, source: string): void {
  const tables: StaticArray<u32> = [100, 254, 255];
  for (let i = 0; i < tables.length; i++) {
    const rule = new routing.Rule(Family.Ipv4, tables[i]);
    rule.source = `${source}/32`;
    const what = `rule from ${source} by table ${tables[i]}`;
    tries.refused(`${what} without a priority`, "", routing.addRules(Place.Host, [rule]));
    rule.priority = new Some<u32>(10);
    tries.refused(what, "", routing.addRules(Place.Host, [rule]));
    tries.refused(`no ${what}`, "", routing.deleteRules(Place.Host, [rule]));
    const read = routing.routes(Place.Host, tables[i]);
    tries.refused(`routes of table ${tables[i]}`, "", read.isOk ? null : read.error);
  }
  const listed = routing.listRules(Place.Host);
  // With a grant the answer has the rules of granted tables, of which the node has none.
  const isEmpty = listed.isOk && listed.value.length == 0;
  if (!isEmpty) tries.refused("list rules of the node", "", listed.isOk ? null : listed.error);
}

/** Tries to guard the frames of another attachment's link. */
export function tryFrames(tries: Tries, link: string): void {
  tries.refused(`guard of ${link}`, link, firewall.guardFrames(link, "02:00:00:00:00:66"));
}

export function tryPlugin(tries: Tries, type: string, verb: string): void {
  const config = '{"cniVersion":"1.0.0","name":"x","ipam":{}}';
  const added = delegation.add(type, null);
  tries.refused(`ADD of ${type}`, verb == "ADD" ? type : "", added.isOk ? null : added.error);
  const other = delegation.add(type, config);
  tries.refused(`ADD of ${type} with a configuration`, verb == "ADD" ? type : "", other.isOk ? null : other.error);
  tries.refused(`DEL of ${type}`, "", delegation.del(type, null));
  tries.refused(`CHECK of ${type}`, "", delegation.check(type, config));
  tries.refused(`GC of ${type}`, "", delegation.gc(type, config));
  tries.refused(`STATUS of ${type}`, "", delegation.status(type, null));
}

export function tryDirectory(tries: Tries, directory: string): void {
  const loaded = state.load(directory);
  tries.refused(`load from ${directory}`, "", loaded.isOk ? null : loaded.error);
  tries.refused(`save to ${directory}`, "", state.save(directory, "x"));
  tries.refused(`remove in ${directory}`, "", state.remove(directory));
  const pool = new leases.Pool(0);
  pool.directory = directory;
  const me = new AttachmentId("one", "eth0");
  tryLeases(tries, pool, me);
  tries.refused(`probe ${directory}`, "", leases.probe(pool));
  const counted = leases.count(pool, [new leases.AddressRange("10.0.0.1", "10.0.0.9")], 5);
  tries.refused(`count in ${directory}`, "", counted.isOk ? null : counted.error);
}

/** Tries leases of another attachment, or in a directory that is not granted. */
export function tryLeases(tries: Tries, pool: leases.Pool, owner: AttachmentId): void {
  const reserved = leases.reserve(pool, "10.99.0.77", owner);
  tries.refused(`reserve for ${owner.containerId}`, "", reserved.isOk ? null : reserved.error);
  const next = leases.reserveNext(pool, [new leases.AddressRange("10.99.0.1", "10.99.0.9")], [], owner);
  tries.refused(`reserve-next for ${owner.containerId}`, "", next.isOk ? null : next.error);
  const held = leases.held(pool, owner);
  tries.refused(`held by ${owner.containerId}`, "", held.isOk ? null : held.error);
  const released = leases.release(pool, owner);
  tries.refused(`release of ${owner.containerId}`, "", released.isOk ? null : released.error);
}

export function tryFile(tries: Tries, path: string): void {
  const answer = resolver.read(path);
  tries.refused(`read ${path}`, path, answer.isOk ? null : answer.error);
}

/** Tries operations that only GC may use. */
export function tryGcOnly(tries: Tries): void {
  const gone = firewall.retain([]);
  tries.refused("firewall.retain", "", gone.isOk ? null : gone.error);
  const retained = leases.retain(new leases.Pool(0), []);
  tries.refused("leases.retain", "", retained.isOk ? null : retained.error);
}
