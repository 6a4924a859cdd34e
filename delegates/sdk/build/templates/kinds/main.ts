// A main plugin: makes the pod's interface, with the addresses of an IPAM plugin.

import { env, type Kind } from "./kind.ts";

const source = `// A macvlan for the pod on the link that \`master\` names, with the addresses of the plugin that \`ipam.type\` names.

import { apply, Link, LinkName, Macvlan, MacvlanMode, Operation, Place, read, routes } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, Network, NetworkInterface, Success } from "plexus/abi/types";
import { Config } from "plexus/config";
import { CniCode, invalidConfig, ownFault } from "plexus/faults";
import { configureInterface } from "plexus/pod-interface";
import { missingAddress, missingRoute } from "plexus/pod-interface-check";
import { Some } from "plexus/some";

/** This plugin's own code of errors: numbers from 100 on. */
const UNEXPECTED_STATE: u32 = 100;

/** The configuration, or the first mistake in it. */
class Settings {
  master: string = "";
  ipam: string = "";
  fault: Fault | null = null;

  static read(network: Network): Settings {
    const config = Config.of(network);
    const settings = new Settings();
    const master = config.string("master");
    const ipam = config.object("ipam");
    const type: string | null = ipam === null ? null : ipam.string("type");
    settings.fault = config.fault;
    if (settings.fault === null && master === null)
      settings.fault = invalidConfig("master", "is missing: name a link of the node");
    if (settings.fault === null && type === null) settings.fault = invalidConfig("ipam.type", "is missing: name an IPAM plugin");
    settings.master = master === null ? "" : master;
    settings.ipam = type === null ? "" : type;
    return settings;
  }
}

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  const answer = delegation.add(settings.ipam, null);
  if (!answer.isOk) return answer;
  const made = make(settings.master, request, answer.value);
  // The address is free again if the interface cannot be made. If this DEL fails, the runtime's DEL releases the address.
  if (!made.isOk) delegation.del(settings.ipam, null);
  return made;
}

/** One \`apply\` makes the link and everything on it, or nothing. */
function make(master: string, request: AttachmentRequest, ipam: Success): SuccessOrFault {
  const ifname = request.attachment.ifname;
  const link = new Macvlan(ifname, new LinkName(Place.Host, master), MacvlanMode.Bridge);
  const operations: Array<Operation> = [Operation.addMacvlan(link)];
  const fault = configureInterface(ifname, ipam.ips, ipam.routes, operations, request.call.remainingMs);
  if (fault !== null) return SuccessOrFault.err(fault);
  const applied = apply(operations);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  const result = new Success();
  const made = new NetworkInterface(ifname);
  made.sandbox = request.attachment.netns;
  made.mac = macOf(applied.value, ifname);
  result.interfaces.push(made);
  for (let i = 0; i < ipam.ips.length; i++) {
    const ip = new IpConfig(ipam.ips[i].address);
    ip.gateway = ipam.ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = ipam.routes;
  result.dns = ipam.dns;
  return SuccessOrFault.ok(result);
}

function macOf(links: Array<Link>, ifname: string): string | null {
  for (let i = 0; i < links.length; i++) if (links[i].name == ifname && links[i].place == Place.Pod) return links[i].mac;
  return null;
}

/** Must succeed if there is nothing to undo, and when it is repeated. */
export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault: Fault | null = null;
  if (settings.ipam != "") fault = delegation.del(settings.ipam, null);
  if (request.attachment.netns === null) return fault;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return fault !== null || removed.isOk ? fault : removed.error;
}

export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const fault = delegation.check(settings.ipam, null);
  if (fault !== null) return fault;
  const ifname = request.attachment.ifname;
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "is missing");
  if (found.value.length == 0) return ownFault(UNEXPECTED_STATE, \`the interface \${ifname} is missing\`);
  const link = found.value[0];
  if (!link.up) return ownFault(UNEXPECTED_STATE, \`the interface \${ifname} is down\`);
  for (let i = 0; i < result.interfaces.length; i++) {
    const wanted = result.interfaces[i].mac;
    if (result.interfaces[i].name == ifname && wanted !== null && wanted != link.mac)
      return ownFault(UNEXPECTED_STATE, \`the interface \${ifname} has another MAC than \${wanted}\`);
  }
  const existing = routes(null);
  if (!existing.isOk) return existing.error;
  let why = missingAddress(ifname, result.ips, link.addresses, existing.value);
  if (why === null) why = missingRoute(result.routes, existing.value);
  return why === null ? null : ownFault(UNEXPECTED_STATE, why);
}

/** Only the IPAM plugin keeps state. */
export function gc(request: GcRequest): Fault | null {
  const settings = Settings.read(request.network);
  return settings.ipam == "" ? settings.fault : delegation.gc(settings.ipam, null);
}

/** Whether an ADD would succeed now. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const fault = delegation.status(settings.ipam, null);
  if (fault !== null) return fault;
  const found = read([new LinkName(Place.Host, settings.master)]);
  if (!found.isOk) return found.error;
  return found.value.length > 0 ? null : new Fault(CniCode.NotAvailable, \`master: the node has no link \${settings.master}\`);
}
`;

const ips = [{ address: "10.1.0.5/24", gateway: "10.1.0.1" }];
const pod = { place: "pod", name: "eth0" };

/** Makes a macvlan. */
export const main: Kind = {
  about: "Makes a macvlan for the pod, with the addresses of an IPAM plugin.",
  source,
  capabilities: {
    links: "Makes the pod's macvlan on the link that `master` names, and gives it its addresses and routes.",
    delegation: "Calls the plugin that ipam.type names.",
  },
  vectors: (type) => {
    const stdin = { cniVersion: "1.1.0", name: "net", type, master: "eth1", ipam: { type: "host-local" } };
    const result = { cniVersion: "1.1.0", ips, routes: [{ dst: "0.0.0.0/0" }] };
    const plugins = { "host-local": { add: { result } } };
    const links = { host: [{ name: "eth1", up: true }] };
    const macvlan = { name: "eth0", parent: { place: "host", name: "eth1" }, mode: "bridge" };
    const made = [
      { "add-macvlan": macvlan },
      { "add-address": { link: pod, address: "10.1.0.5/24", noDad: false } },
      { "change-link": { link: pod, up: true, alternativeNames: [] } },
      { "add-route": { link: pod, place: "pod", route: { dst: "0.0.0.0/0", gw: "10.1.0.1" }, onLink: false } },
    ];
    return [
      {
        name: "01-adds",
        question: { about: "ADD makes a macvlan with IPAM's address and routes.", verb: "ADD", env, stdin, plugins, links },
        answer: {
          result: {
            cniVersion: "1.1.0",
            interfaces: [{ name: "eth0", mac: "0a:58:00:00:00:03", sandbox: "/run/netns/pod-1" }],
            ips: [{ ...ips[0], interface: 0 }],
            routes: [{ dst: "0.0.0.0/0" }],
          },
          applied: [made],
          called: [{ add: "host-local" }],
        },
      },
      {
        name: "02-needs-a-master",
        question: { about: "ADD refuses a configuration without master.", verb: "ADD", env, stdin: { ...stdin, master: null } },
        answer: { error: { code: 7, msg: "master: is missing: name a link of the node" } },
      },
      {
        name: "03-dels",
        question: {
          about: "DEL releases the address and removes the link.",
          verb: "DEL",
          env,
          stdin,
          plugins: { "host-local": {} },
          links,
        },
        answer: { applied: [[{ "delete-link": pod }]], called: [{ del: "host-local" }] },
      },
    ];
  },
  conformance: {
    configuration: { master: "kit0", ipam: { type: "host-local" } },
    links: [{ name: "kit0" }],
    invalid: { master: 5 },
    notReady: { master: "absent0" },
  },
  grant: { links: { parents: ["eth1"] }, delegation: { plugins: ["host-local"] } },
};
