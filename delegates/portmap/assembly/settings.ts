// The configuration, read like the reference portmap does.

import { Protocol } from "plexus/abi/firewall";
import { Level, write } from "plexus/abi/log";
import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { Ip } from "plexus/ip";
import { quote, sameInAnyCase } from "plexus/json";
import { Some } from "plexus/some";
import { Conditions } from "./conditions";

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
  conditionsV4: Conditions = new Conditions();
  conditionsV6: Conditions = new Conditions();

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.snat = root.bool("snat", true);
    settings.masqueradeAll = root.bool("masqAll", false);
    readMark(root);
    settings.conditionsV4 = readConditions(root, "conditionsV4", 4);
    settings.conditionsV6 = readConditions(root, "conditionsV6", 6);
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
  const name: string = text === null ? "" : text;
  if (sameInAnyCase(name, "udp")) return Protocol.Udp;
  if (sameInAnyCase(name, "sctp")) return Protocol.Sctp;
  if (!sameInAnyCase(name, "tcp"))
    config.refuse("protocol", text === null ? "is missing" : `must be tcp, udp or sctp, is ${quote(text)}`);
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

function readConditions(root: Config, key: string, family: i32): Conditions {
  const list = root.strings(key);
  if (list === null || list.length == 0) return new Conditions();
  const text = list.join(" ");
  const conditions = Conditions.parse(text, family);
  if (conditions !== null) return conditions;
  const example = family == 4 ? "! -d 10.96.0.0/12" : "! -d fd00:10:96::/108";
  root.refuse(
    key,
    onlyNative(
      `${quote(text)} is not supported: supported are one condition on the destination (-d) and one on the source (-s), each an address or a network, with or without negation (${example})`,
    ),
  );
  return new Conditions();
}

function onlyNative(why: string): string {
  return `${why}; use the native portmap for it (leave portmap out of wasm.prefer in Plexus' configuration)`;
}
