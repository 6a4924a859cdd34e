// The configuration, read like the reference portmap does.

import { Protocol } from "plexus/abi/firewall";
import { Level, write } from "plexus/abi/log";
import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = [
  "snat",
  "masqAll",
  "markMasqBit",
  "externalSetMarkChain",
  "conditionsV4",
  "conditionsV6",
  "backend",
  "runtimeConfig",
];
const runtimeKeys: StaticArray<string> = ["portMappings"];
const mappingKeys: StaticArray<string> = ["hostPort", "containerPort", "protocol", "hostIP"];

/** An entry of `runtimeConfig.portMappings`. */
@final
export class Mapping {
  constructor(
    readonly hostPort: u16,
    readonly containerPort: u16,
    readonly protocol: Protocol,
    /** Null: no address was given. */
    readonly hostIp: Ip | null,
  ) {}
}

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  snat: bool = true;
  masqueradeAll: bool = false;
  readonly mappings: Array<Mapping> = new Array<Mapping>();
  /** The only address of the node that `conditionsV4` allows; null: all. */
  addressV4: Ip | null = null;
  /** Like `addressV4`, for `conditionsV6`. */
  addressV6: Ip | null = null;

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.snat = root.bool("snat", true);
    settings.masqueradeAll = root.bool("masqAll", false);
    readMark(root);
    settings.addressV4 = readConditions(root, "conditionsV4", 4);
    settings.addressV6 = readConditions(root, "conditionsV6", 6);
    const backend = root.string("backend");
    if (backend !== null && backend != "iptables" && backend != "nftables")
      root.refuse("backend", `must be iptables or nftables, is ${quote(backend)}`);
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    if (runtime !== null) settings.readMappings(runtime);
    settings.fault = root.fault;
    return settings;
  }

  private readMappings(runtime: Config): void {
    const list = runtime.list("portMappings");
    for (let i = 0; list !== null && i < list.length; i++) {
      const config = folded(runtime, list.at(i), `portMappings[${i}]`, mappingKeys);
      if (config === null) return;
      const hostPort = readPort(config, "hostPort");
      const containerPort = readPort(config, "containerPort");
      const protocol = readProtocol(config);
      this.mappings.push(new Mapping(hostPort, containerPort, protocol, readHostIp(config)));
    }
  }
}

function readPort(config: Config, key: string): u16 {
  const value = config.member(key);
  const port: Some<u32> | null = value === null ? null : value.asU32OrNull();
  if (port !== null && port.value > 0 && port.value < 65536) return <u16>port.value;
  config.refuse(key, value === null ? "is missing" : `must be a port from 1 to 65535, is ${value.toString()}`);
  return 0;
}

/** In upper or lower case, like iptables. */
function readProtocol(config: Config): Protocol {
  const text = config.string("protocol");
  const name = text === null ? "" : text.toLowerCase();
  if (name == "udp") return Protocol.Udp;
  if (name == "sctp") return Protocol.Sctp;
  if (name != "tcp") config.refuse("protocol", text === null ? "is missing" : `must be tcp, udp or sctp, is ${quote(text)}`);
  return Protocol.Tcp;
}

function readHostIp(config: Config): Ip | null {
  const text = config.string("hostIP");
  if (text === null || text == "") return null;
  const ip = Ip.parse(text);
  if (ip === null) config.refuse("hostIP", `${quote(text)} is not an IP address`);
  return ip;
}

/** iptables marks the packets to masquerade; these rules need no marks. */
function readMark(root: Config): void {
  const bit = root.member("markMasqBit");
  const hasMarkChain = root.has("externalSetMarkChain");
  if (hasMarkChain && bit !== null) root.refuse("externalSetMarkChain", "can't be set together with markMasqBit");
  if (hasMarkChain) root.refuse("externalSetMarkChain", onlyNative("names an iptables chain"));
  if (bit === null) return;
  const number = bit.asU32OrNull();
  if (number === null || number.value > 31) root.refuse("markMasqBit", `must be between 0 and 31, is ${bit.toString()}`);
  else write(Level.Debug, "markMasqBit has no effect: packets are not marked");
}

/**
 * The only condition that a mapping's address can express: packets to one address of the node, in the form of iptables (`-d
 * 192.0.2.1`) or nft (`ip daddr 192.0.2.1`). Any other condition is refused: a mapping without its condition would accept more
 * than intended.
 */
function readConditions(root: Config, key: string, family: i32): Ip | null {
  const conditions = root.strings(key);
  if (conditions === null || conditions.length == 0) return null;
  const text = conditions.join(" ");
  const words = text.split(" ").filter((word) => word != "");
  if (words.length == 2 && destinationOptions.includes(words[0])) {
    const address = hostAddress(words[1], family);
    if (address !== null) return address;
  }
  if (words.length == 3 && words[0] == (family == 4 ? "ip" : "ip6") && words[1] == "daddr") {
    const address = hostAddress(words[2], family);
    if (address !== null) return address;
  }
  root.refuse(
    key,
    onlyNative(`${quote(text)} is not supported: the only supported condition is -d with one address of the node`),
  );
  return null;
}

const destinationOptions: Array<string> = ["-d", "--dst", "--destination"];

/** An address of the family, without a prefix length or with the full one. */
function hostAddress(text: string, family: i32): Ip | null {
  const slash = text.indexOf("/");
  if (slash >= 0 && text.substring(slash + 1) != (family == 4 ? "32" : "128")) return null;
  const ip = Ip.parse(slash < 0 ? text : text.substring(0, slash));
  return ip === null || ip.family != family ? null : ip;
}

function onlyNative(why: string): string {
  return `${why}; use the native portmap for it (leave portmap out of wasm.prefer in Plexus' configuration)`;
}
