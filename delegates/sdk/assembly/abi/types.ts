// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import { Some } from "plexus/some";

/** An error, as section 5 "Error" has it. `code` 1-99 is the specification's, 100 and up the delegate's own. */
export class Fault {
  code: u32;
  msg: string;
  details: string | null = null;

  constructor(code: u32, msg: string) {
    this.code = code;
    this.msg = msg;
  }
}

/** One interface that an attachment created (section 5, `interfaces`). */
export class NetworkInterface {
  name: string;
  mac: string | null = null;
  /** In bytes. */
  mtu: Some<u32> | null = null;
  /** The namespace's path as the runtime gave it; absent for an interface of the host. */
  sandbox: string | null = null;
  socketPath: string | null = null;
  pciId: string | null = null;

  constructor(name: string) {
    this.name = name;
  }
}

/** One address (section 5, `ips`). `address` is in CIDR notation with its host part kept. */
export class IpConfig {
  address: string;
  gateway: string | null = null;
  /** Index into `interfaces`; some plugins write a negative one for "none". */
  interface_: Some<i32> | null = null;

  constructor(address: string) {
    this.address = address;
  }
}

/** One route (section 5, `routes`). */
export class Route {
  dst: string;
  gw: string | null = null;
  mtu: Some<u32> | null = null;
  advmss: Some<u32> | null = null;
  priority: Some<u32> | null = null;
  table: Some<u32> | null = null;
  scope: Some<u32> | null = null;

  constructor(dst: string) {
    this.dst = dst;
  }
}

/** Name resolution (section 5, `dns`). */
export class Dns {
  nameservers: Array<string> = new Array<string>();
  domain: string | null = null;
  search: Array<string> = new Array<string>();
  options: Array<string> = new Array<string>();
}

/**
 * The result of an ADD (section 5, "ADD Success"). It is the same for every `cniVersion` of a chain:
 * the host converts results.
 */
export class Success {
  interfaces: Array<NetworkInterface> = new Array<NetworkInterface>();
  ips: Array<IpConfig> = new Array<IpConfig>();
  routes: Array<Route> = new Array<Route>();
  dns: Dns | null = null;
}

/** One pair of `CNI_ARGS`, in the order given. */
export class Arg {
  key: string;
  value: string;

  constructor(key: string, value: string) {
    this.key = key;
    this.value = value;
  }
}

/** The pod of an attachment, from `K8S_POD_NAMESPACE`, `K8S_POD_NAME` and `K8S_POD_UID` of `CNI_ARGS`. The host has checked the names. */
export class Pod {
  namespace: string;
  name: string;
  /** Absent where the runtime sends none. */
  uid: string | null = null;

  constructor(namespace: string, name: string) {
    this.namespace = namespace;
    this.name = name;
  }
}

/** The container and interface of a call: the parameters of section 2. */
export class Attachment {
  containerId: string;
  /** The network namespace's path, as a label: a delegate cannot open it. Absent where the runtime has none (DEL). */
  netns: string | null = null;
  ifname: string;
  /** All pairs of `CNI_ARGS`, also those of which `pod` is made. */
  args: Array<Arg> = new Array<Arg>();
  /** Absent for a container that is not a pod's. */
  pod: Pod | null = null;

  constructor(containerId: string, ifname: string) {
    this.containerId = containerId;
    this.ifname = ifname;
  }
}

/** The terms of one call, for every verb. */
export class Call {
  /**
   * Milliseconds until the host ends this call, as they were at its begin: the runtime's deadline and the node's limits, whichever comes
   * first. A delegate has no clock; the number serves to bound the waits that it asks for, such as `settle` of `links`.
   */
  remainingMs: u32;
  /**
   * The capabilities that this component imports and that are granted for this call, by name. The call of an optional capability that is
   * not among them ends the delegate with a trap; lines of `log` are dropped instead.
   */
  granted: Array<string> = new Array<string>();

  constructor(remainingMs: u32) {
    this.remainingMs = remainingMs;
  }
}

/** The network of a call, for every verb. */
export class Network {
  /** The configuration's `cniVersion`. */
  cniVersion: string;
  name: string;
  /**
   * This plugin's own configuration object as JSON text, with `runtimeConfig` and `args`,
   * without `prevResult`. The host has checked that it is one JSON object.
   */
  config: string;

  constructor(cniVersion: string, name: string, config: string) {
    this.cniVersion = cniVersion;
    this.name = name;
    this.config = config;
  }
}

/** A request of ADD, DEL or CHECK. */
export class AttachmentRequest {
  call: Call;
  network: Network;
  attachment: Attachment;
  /** ADD: the previous plugin's result. CHECK and DEL: the attachment's cached final result. */
  prevResult: Success | null = null;

  constructor(call: Call, network: Network, attachment: Attachment) {
    this.call = call;
    this.network = network;
    this.attachment = attachment;
  }
}

/** Identifies one attachment of a network (section 2, GC: `cni.dev/valid-attachments`). */
export class AttachmentId {
  containerId: string;
  ifname: string;

  constructor(containerId: string, ifname: string) {
    this.containerId = containerId;
    this.ifname = ifname;
  }
}

/** A request of GC. */
export class GcRequest {
  call: Call;
  network: Network;
  /** Valid attachments of this network. All its other attachments are stale. */
  valid: Array<AttachmentId> = new Array<AttachmentId>();

  constructor(call: Call, network: Network) {
    this.call = call;
    this.network = network;
  }
}

/** A request of STATUS. */
export class StatusRequest {
  call: Call;
  network: Network;

  constructor(call: Call, network: Network) {
    this.call = call;
    this.network = network;
  }
}
