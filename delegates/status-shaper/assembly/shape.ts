// The configuration, read and checked.

import { Dns, Fault, Network, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { Ip } from "plexus/ip";
import { Json } from "plexus/json";
import { Some } from "plexus/some";

/** All settings of a configuration. */
export class Shape {
  /** Families to keep; empty for all. */
  families: Array<i32> = [];
  /** Families in the order of their addresses; families that are not listed come last. */
  order: Array<i32> = [];
  /** An address is kept if it is in one of these networks; empty for all. */
  subnets: Array<Cidr> = [];
  /** The configured dns settings. */
  dns: DnsShape | null = null;
  add: Array<Route> = [];
  /** Destinations, in canonical text. */
  drop: Array<string> = [];
  /** A mistake in the configuration; the other fields must then not be used. */
  fault: Fault | null = null;

  static of(network: Network): Shape {
    const config = Config.of(network);
    const shape = new Shape();
    const ips = config.object("ips");
    if (ips !== null) {
      ips.only(["families", "order", "subnets"]);
      shape.families = readFamilies(ips, "families");
      shape.order = readFamilies(ips, "order");
      shape.subnets = readNetworks(ips, "subnets");
    }
    const dns = config.object("dns");
    if (dns !== null) shape.dns = readDns(dns);
    const routes = config.object("routes");
    if (routes !== null) {
      routes.only(["add", "drop"]);
      const added = routes.objects("add");
      for (let i = 0; i < added.length; i++) shape.add.push(readRoute(added[i]));
      const dropped = readNetworks(routes, "drop");
      for (let i = 0; i < dropped.length; i++) shape.drop.push(dropped[i].toString());
    }
    shape.fault = config.fault;
    return shape;
  }
}

/** Null members are not configured. */
export class DnsShape {
  nameservers: Array<string> | null = null;
  domain: string | null = null;
  search: Array<string> | null = null;
  options: Array<string> | null = null;

  /** `previous`, with the configured members replaced. */
  replaceIn(previous: Dns | null): Dns {
    const dns = new Dns();
    if (previous !== null) {
      dns.nameservers = previous.nameservers;
      dns.domain = previous.domain;
      dns.search = previous.search;
      dns.options = previous.options;
    }
    if (this.nameservers !== null) dns.nameservers = this.nameservers as Array<string>;
    if (this.domain !== null) dns.domain = this.domain;
    if (this.search !== null) dns.search = this.search as Array<string>;
    if (this.options !== null) dns.options = this.options as Array<string>;
    return dns;
  }
}

function readFamilies(ips: Config, key: string): Array<i32> {
  const found: Array<i32> = [];
  const texts = ips.strings(key);
  if (texts === null) return found;
  if (texts.length == 0) ips.refuse(key, "must name a family");
  for (let i = 0; i < texts.length; i++) {
    const family = texts[i] == "4" ? 4 : texts[i] == "6" ? 6 : 0;
    if (family == 0) ips.refuse(`${key}[${i}]`, 'must be "4" or "6"');
    else if (found.includes(family)) ips.refuse(`${key}[${i}]`, "is listed twice");
    found.push(family);
  }
  return found;
}

function readNetworks(config: Config, key: string): Array<Cidr> {
  const found: Array<Cidr> = [];
  const texts = config.strings(key);
  if (texts === null) return found;
  if (texts.length == 0) config.refuse(key, "must name a network");
  for (let i = 0; i < texts.length; i++) {
    const network = readNetwork(config, `${key}[${i}]`, texts[i]);
    if (network !== null) found.push(network);
  }
  return found;
}

function readNetwork(config: Config, key: string, text: string): Cidr | null {
  const network = Cidr.parse(text);
  if (network === null) config.refuse(key, "must be a network such as 10.1.0.0/16");
  else if (!network.ip.equals(network.network))
    config.refuse(key, `has host bits; the network is ${network.masked().toString()}`);
  return network;
}

function readDns(dns: Config): DnsShape {
  dns.only(["nameservers", "domain", "search", "options"]);
  const shape = new DnsShape();
  const nameservers = dns.strings("nameservers");
  if (nameservers !== null) {
    for (let i = 0; i < nameservers.length; i++) {
      if (Ip.parse(nameservers[i]) === null) dns.refuse(`nameservers[${i}]`, "must be an IP address");
    }
  }
  shape.nameservers = nameservers;
  shape.domain = dns.string("domain");
  shape.search = dns.strings("search");
  shape.options = dns.strings("options");
  return shape;
}

function readRoute(config: Config): Route {
  config.only(["dst", "gw", "mtu", "advmss", "priority", "table", "scope"]);
  const route = new Route("");
  const dst = config.string("dst");
  if (dst === null) {
    config.refuse("dst", "is missing");
    return route;
  }
  const network = readNetwork(config, "dst", dst);
  if (network === null) return route;
  route.dst = network.toString();
  const gw = config.string("gw");
  if (gw !== null) {
    const ip = Ip.parse(gw);
    if (ip === null) config.refuse("gw", "must be an IP address");
    else if (ip.family != network.ip.family) config.refuse("gw", "must be of dst's family");
    else route.gw = ip.toString();
  }
  route.mtu = readNumber(config, "mtu");
  route.advmss = readNumber(config, "advmss");
  route.priority = readNumber(config, "priority");
  route.table = readNumber(config, "table");
  route.scope = readNumber(config, "scope");
  const scope = route.scope;
  if (scope !== null && scope.value > 255) config.refuse("scope", "must be at most 255");
  return route;
}

function readNumber(config: Config, key: string): Some<u32> | null {
  const value: Json | null = config.member(key);
  if (value === null) return null;
  const number = value.asU32OrNull();
  if (number === null) config.refuse(key, "must be a whole number from 0 to 4294967295");
  return number;
}
