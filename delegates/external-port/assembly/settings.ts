// The network's own configuration: the node's links on which ports of each binding are plugged.

import { LinkName, Place } from "plexus/abi/links";
import { Arg, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { refuseUnknownArgs } from "plexus/conventions";
import { quote } from "plexus/json";
import { Binding, Port } from "./port";

/** The links that a port with the binding `address-only` may get. */
const addressOnlyKinds: Array<string> = ["macvlan", "ipvlan"];
const knownArgs: StaticArray<string> = [];
const defaultBridge = "br-int";

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** The Open vSwitch bridge of ports with the binding `ovs`; "": none. */
  bridge: string = "";
  /** The parent link of ports with the bindings `vlan` and `address-only`; "": none. */
  master: string = "";
  /** Whether a port with the binding `address-only` gets an ipvlan. Otherwise it gets a macvlan. */
  isIpvlan: bool = false;
  /** Null: the request has none. */
  port: Port | null = null;

  /** Reads the configuration. A port, if present, must be one that the configuration can plug. */
  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const root = Config.of(network);
    settings.readLinks(root);
    if (root.has("ipam")) root.refuse("ipam", "the fabric chooses the port's addresses, so the network has no ipam");
    const port = Port.read(root);
    settings.port = port;
    if (port !== null && root.fault === null) settings.refuseUnpluggable(root, port);
    settings.fault = root.fault;
    if (settings.fault === null) settings.fault = refuseUnknownArgs(args, knownArgs);
    return settings;
  }

  get masterLink(): LinkName {
    return new LinkName(Place.Host, this.master);
  }

  /** The kind of link in the pod, as `links` names it. */
  kindOf(port: Port): string {
    if (port.binding == Binding.Ovs) return "veth";
    if (port.binding == Binding.Vlan) return "vlan";
    return this.isIpvlan ? "ipvlan" : "macvlan";
  }

  private readLinks(root: Config): void {
    const bridge = root.string("bridge");
    const master = root.string("master");
    if (master !== null) this.master = master;
    if (bridge !== null) this.bridge = bridge;
    else if (this.master == "") this.bridge = defaultBridge;
    const kind = root.string("addressOnly");
    if (kind === null) return;
    if (!addressOnlyKinds.includes(kind)) root.refuse("addressOnly", `${quote(kind)} is none of ${addressOnlyKinds.join(", ")}`);
    this.isIpvlan = kind == "ipvlan";
  }

  private refuseUnpluggable(root: Config, port: Port): void {
    const isOvs = port.binding == Binding.Ovs;
    if (isOvs && this.bridge == "")
      root.refuse(
        "bridge",
        `the fabric's port has the binding ovs: name the node's Open vSwitch bridge, such as "${defaultBridge}"`,
      );
    if (!isOvs && this.master == "")
      root.refuse(
        "master",
        `the fabric's port has the binding ${port.bindingName}: name the node's link that leads to the fabric`,
      );
  }
}
