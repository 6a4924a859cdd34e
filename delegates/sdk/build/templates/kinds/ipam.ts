// An IPAM plugin: assigns an address and keeps it for the attachment.

import { env, type Kind } from "./kind.ts";

const source = `// One address after the other from the network that \`ipam.subnet\` names. The network's first address is the gateway.

import * as leases from "plexus/abi/leases";
import { AttachmentRequest, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Fault, IpConfig, Network, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { invalidConfig, ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";

/** This plugin's own codes of errors: numbers from 100 on. */
const EXHAUSTED: u32 = 100;
const NOT_HELD: u32 = 101;

/** The configuration, or the first mistake in it. */
class Settings {
  fault: Fault | null = null;
  prefix: i32 = 0;
  gateway: string = "";
  ranges: Array<leases.AddressRange> = [];
  pool: leases.Pool = new leases.Pool(0);

  static read(network: Network): Settings {
    const settings = new Settings();
    const config = Config.of(network);
    const ipam = config.object("ipam");
    const text: string | null = ipam === null ? null : ipam.string("subnet");
    settings.pool.directory = ipam === null ? null : ipam.string("dataDir");
    settings.fault = config.fault;
    if (settings.fault !== null) return settings;
    const subnet: Cidr | null = text === null ? null : Cidr.parse(text);
    const gateway: Ip | null = subnet === null ? null : subnet.network.next();
    const first: Ip | null = gateway === null ? null : gateway.next();
    const last: Ip | null = subnet === null ? null : subnet.last.prev();
    if (subnet === null || gateway === null || first === null || last === null || first.compare(last) > 0) {
      settings.fault = invalidConfig("ipam.subnet", "must be a network with a gateway and an address, such as 10.1.0.0/24");
      return settings;
    }
    settings.prefix = subnet.prefix;
    settings.gateway = gateway.toString();
    settings.ranges.push(new leases.AddressRange(first.toString(), last.toString()));
    return settings;
  }
}

function ownerOf(request: AttachmentRequest): AttachmentId {
  return new AttachmentId(request.attachment.containerId, request.attachment.ifname);
}

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  const fault = settings.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  const reserved = leases.reserveNext(settings.pool, settings.ranges, [], ownerOf(request));
  if (!reserved.isOk) return SuccessOrFault.err(reserved.error);
  const reservation = reserved.value;
  if (reservation === null) return SuccessOrFault.err(ownFault(EXHAUSTED, "ipam.subnet: no address is free"));
  const result = new Success();
  const ip = new IpConfig(\`\${reservation.address}/\${settings.prefix}\`);
  ip.gateway = settings.gateway;
  result.ips.push(ip);
  return SuccessOrFault.ok(result);
}

/** Must succeed if there is nothing to undo, and when it is repeated: the configuration may be one that ADD refuses. */
export function del(request: AttachmentRequest): Fault | null {
  const released = leases.release(Settings.read(request.network).pool, ownerOf(request));
  return released.isOk ? null : released.error;
}

export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const held = leases.held(settings.pool, ownerOf(request));
  if (!held.isOk) return held.error;
  return held.value.length > 0 ? null : ownFault(NOT_HELD, "the attachment holds no address");
}

/** Releases the addresses of attachments that no longer exist. */
export function gc(request: GcRequest): Fault | null {
  const released = leases.retain(Settings.read(request.network).pool, request.valid);
  return released.isOk ? null : released.error;
}

export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const probed = leases.probe(settings.pool);
  return probed;
}
`;

/** Assigns addresses of one network. */
export const ipam: Kind = {
  about: "Assigns one address after the other from a network.",
  source,
  capabilities: { leases: "Reserves the attachment's address, and releases it." },
  vectors: (type) => {
    const stdin = { cniVersion: "1.1.0", name: "net", type: "macvlan", ipam: { type, subnet: "10.1.0.0/24" } };
    const held = { "10.1.0.2": "pod-0 eth0" };
    const leases = { held, last: { "0": "10.1.0.2" } };
    return [
      {
        name: "01-adds",
        question: { about: "ADD reserves the address after the last one.", verb: "ADD", env, stdin, leases },
        answer: {
          result: { cniVersion: "1.1.0", ips: [{ address: "10.1.0.3/24", gateway: "10.1.0.1" }] },
          leases: { held: { ...held, "10.1.0.3": "pod-1 eth0" }, last: { "0": "10.1.0.3" } },
        },
      },
      {
        name: "02-refuses-a-small-network",
        question: {
          about: "ADD refuses a network without room for a gateway and an address.",
          verb: "ADD",
          env,
          stdin: { ...stdin, ipam: { type, subnet: "10.1.0.0/31" } },
        },
        answer: { error: { code: 7, msg: "ipam.subnet: must be a network with a gateway and an address, such as 10.1.0.0/24" } },
      },
      {
        name: "03-dels",
        question: {
          about: "DEL releases the attachment's address, whatever the configuration.",
          verb: "DEL",
          env,
          stdin: { ...stdin, ipam: { type } },
          leases: { held: { ...held, "10.1.0.3": "pod-1 eth0" } },
        },
        answer: { leases: { held, last: {} } },
      },
    ];
  },
  conformance: {
    configuration: { ipam: { subnet: "10.9.0.0/24", dataDir: "$STATE" } },
    role: "ipam",
    invalid: { ipam: { subnet: "10.9.0.0/33" } },
  },
  grant: { leases: { directories: ["/var/lib/cni/networks"] } },
};
