// The fabric's port in `runtimeConfig.externalPort`. Every value is checked, although the engine has checked it: another runtime may have written it.

import { Fault, IpConfig, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";
import { readMac } from "plexus/mac";
import { Some } from "plexus/some";

/** How the fabric expects the plug. */
export enum Binding {
  /** A port of an Open vSwitch bridge. */
  Ovs,
  /** A VLAN of the node's trunk. */
  Vlan,
  /** Any link: the fabric knows the addresses only. */
  AddressOnly,
}

const bindingNames: Array<string> = ["ovs", "vlan", "address-only"];
const maxAddresses = 32;
const maxRoutes = 64;
const minMtu: i64 = 68;
/** RFC 8200. With a lower MTU the kernel removes IPv6 from the link. */
const minIpv6Mtu: i64 = 1280;
const maxMtu: i64 = 65_535;
const maxInterfaceId = 128;

/** A port. With a fault in its configuration, the fields must not be used. */
@final
export class Port {
  /** In the kernel's spelling. */
  mac: string = "";
  ips: Array<IpConfig> = [];
  routes: Array<Route> = [];
  /** In bytes; null: the fabric names none. */
  mtu: Some<u32> | null = null;
  binding: Binding = Binding.AddressOnly;
  /** For binding `ovs`: the port's `external_ids:iface-id`. */
  interfaceId: string = "";
  /** For binding `vlan`: 1 to 4094. */
  vlan: u16 = 0;

  /** Reads the port; null if there is none. The first mistake is the fault of `root`. */
  static read(root: Config): Port | null {
    const runtime = root.object("runtimeConfig");
    const config: Config | null = runtime === null ? null : runtime.object("externalPort");
    if (config === null) return null;
    const port = new Port();
    port.readMac(config);
    port.readAddresses(config);
    port.readRoutes(config);
    port.readMtu(config);
    port.readBinding(config);
    return port;
  }

  get bindingName(): string {
    return bindingNames[this.binding];
  }

  private readMac(config: Config): void {
    const text = required(config, "mac");
    if (text === null) return;
    const mac = readMac(text);
    // Bit 0 of the first byte marks a multicast address, which no interface can have.
    if (mac === null || mac.length != 17 || mac == "00:00:00:00:00:00" || (parseInt(mac.substring(0, 2), 16) as i32 & 1) == 1)
      config.refuse("mac", `${shown(text)} is not the MAC address of an interface`);
    else this.mac = mac;
  }

  private readAddresses(config: Config): void {
    const list = config.objects("addresses");
    if (list.length > maxAddresses) return config.refuse("addresses", `has ${list.length} elements, more than ${maxAddresses}`);
    for (let i = 0; i < list.length; i++) {
      const text = required(list[i], "address");
      if (text === null) continue;
      const address = Cidr.parse(text);
      if (address === null) {
        list[i].refuse("address", `${shown(text)} is not an address with a prefix length`);
        continue;
      }
      const ip = new IpConfig(address.toString());
      for (let k = 0; k < this.ips.length; k++) {
        if (this.ips[k].address == ip.address) list[i].refuse("address", `${shown(text)} stands in the list twice`);
      }
      ip.gateway = readGateway(list[i], "gateway", address.ip.family);
      this.ips.push(ip);
    }
  }

  private readRoutes(config: Config): void {
    const list = config.objects("routes");
    if (list.length > maxRoutes) return config.refuse("routes", `has ${list.length} elements, more than ${maxRoutes}`);
    for (let i = 0; i < list.length; i++) {
      const text = required(list[i], "dst");
      if (text === null) continue;
      const dst = Cidr.parse(text);
      if (dst === null) {
        list[i].refuse("dst", `${shown(text)} is not a network in CIDR notation`);
        continue;
      }
      const route = new Route(dst.masked().toString());
      route.gw = readGateway(list[i], "gw", dst.ip.family);
      this.routes.push(route);
    }
  }

  private readMtu(config: Config): void {
    const mtu = config.integer("mtu");
    if (mtu === null) return;
    const least = this.hasIpv6 ? minIpv6Mtu : minMtu;
    if (mtu.value >= least && mtu.value <= maxMtu) this.mtu = new Some<u32>(<u32>mtu.value);
    else config.refuse("mtu", `${mtu.value} is not ${least} to ${maxMtu}${this.hasIpv6 ? ", which IPv6 needs" : ""}`);
  }

  private get hasIpv6(): bool {
    for (let i = 0; i < this.ips.length; i++) if (this.ips[i].address.includes(":")) return true;
    return false;
  }

  private readBinding(config: Config): void {
    const binding = config.object("binding");
    if (binding === null) return config.refuse("binding", "is missing");
    const type = required(binding, "type");
    if (type === null) return;
    const known = bindingNames.indexOf(type);
    if (known < 0) return binding.refuse("type", `${shown(type)} is none of ${bindingNames.join(", ")}`);
    this.binding = <Binding>known;
    if (this.binding == Binding.Ovs) {
      const id = required(binding, "interfaceId");
      if (id === null) return;
      if (isInterfaceId(id)) this.interfaceId = id;
      else binding.refuse("interfaceId", `${shown(id)} is not 1 to ${maxInterfaceId} letters, digits and . _ : -`);
    } else if (this.binding == Binding.Vlan) {
      const vlan = binding.integer("vlan");
      if (vlan === null) binding.refuse("vlan", "is missing");
      else if (vlan.value < 1 || vlan.value > 4094) binding.refuse("vlan", `${vlan.value} is not 1 to 4094`);
      else this.vlan = <u16>vlan.value;
    }
  }
}

/** The text of a member, which must be present; null with a fault. */
function required(config: Config, key: string): string | null {
  const text = config.string(key);
  if (text === null) config.refuse(key, "is missing");
  return text;
}

/** A gateway of this family; null if absent, or with a fault. */
function readGateway(config: Config, key: string, family: i32): string | null {
  const text = config.string(key);
  if (text === null) return null;
  const ip = Ip.parse(text);
  if (ip !== null && ip.family == family) return ip.toString();
  config.refuse(key, `${shown(text)} is not an IPv${family} address`);
  return null;
}

function isInterfaceId(text: string): bool {
  if (text.length == 0 || text.length > maxInterfaceId || !isWordCharacter(text.charCodeAt(0))) return false;
  for (let i = 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // . _ : -
    if (!isWordCharacter(code) && code != 0x2e && code != 0x5f && code != 0x3a && code != 0x2d) return false;
  }
  return true;
}

function isWordCharacter(code: i32): bool {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}

/** A value in a message, bounded. */
function shown(text: string): string {
  return quote(text.length > 60 ? `${text.substring(0, 60)}…` : text);
}
