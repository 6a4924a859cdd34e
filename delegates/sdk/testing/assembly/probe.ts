// The guest library's functions as functions from text to text, for tests.

import "plexus/abort-silent";
import * as memory from "plexus/memory";
import { Ip } from "plexus/ip";
import { Cidr } from "plexus/cidr";
import { quote } from "plexus/json";
import { parseJson } from "plexus/json-parse";
import { Arg, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { argsCniIps, cniArg, cniArgsIps, runtimeConfigIps } from "plexus/conventions";
import { readMac } from "plexus/mac";

/** Copies a text to the boundary's memory and back, as one crossing does. */
export function bounce(text: string): string {
  const at = memory.lowerString(text);
  const back = memory.liftString(at, memory.loweredBytes);
  memory.reset();
  return back;
}

/** Allocates, grows and releases blocks of the boundary's memory; answers the first error. */
export function arena(): string {
  const first = memory.allocate(100, 4);
  const grown = memory.cabi_realloc(first, 100, 4, 200);
  if (grown != first) return "the last block did not grow in place";
  const second = memory.cabi_realloc(0, 0, 8, 3);
  if (second % 8 != 0 || second < first + 200) return "a block overlaps or is not aligned";
  store<u8>(first + 199, 42);
  const moved = memory.cabi_realloc(first, 200, 4, 10_000);
  if (moved == first || load<u8>(moved + 199) != 42) return "a moved block lost its content";
  const mark = memory.mark();
  for (let i = 0; i < 100; i++) memory.allocate(5000, 1);
  memory.release(mark);
  if (memory.mark() != mark) return "release did not come back to the mark";
  if (load<u8>(moved + 199) != 42) return "release took what was before the mark";
  memory.reset();
  const again = memory.allocate(100, 4);
  if (again != first) return "reset did not keep the first block";
  const pages = memory.pages();
  for (let i = 0; i < 10_000; i++) {
    memory.allocate(9000, 4);
    memory.reset();
  }
  return memory.pages() == pages ? "fine" : "blocks are not released";
}

const NONE = "none";

function show(ip: Ip | null): string {
  return ip === null ? NONE : ip.toString();
}

/** Canonical text, next, previous. */
export function ip(text: string): string {
  const parsed = Ip.parse(text);
  return parsed === null ? NONE : `${parsed.toString()} ${show(parsed.next())} ${show(parsed.prev())} ${parsed.family}`;
}

export function compare(a: string, b: string): string {
  const left = Ip.parse(a);
  const right = Ip.parse(b);
  return left === null || right === null ? NONE : left.compare(right).toString();
}

/** Canonical text, network, last. */
export function cidr(text: string): string {
  const parsed = Cidr.parse(text);
  return parsed === null ? NONE : `${parsed.toString()} ${parsed.network.toString()} ${parsed.last.toString()}`;
}

export function contains(network: string, address: string): string {
  const parsed = Cidr.parse(network);
  const ip = Ip.parse(address);
  return parsed === null || ip === null ? NONE : parsed.contains(ip).toString();
}

export function overlaps(a: string, b: string): string {
  const left = Cidr.parse(a);
  const right = Cidr.parse(b);
  return left === null || right === null ? NONE : left.overlaps(right).toString();
}

/** The text printed again, or the error after "!". */
export function json(text: string): string {
  const parsed = parseJson(text);
  const value = parsed.value;
  return value === null ? `!${parsed.error}` : value.toString();
}

export function quoted(text: string): string {
  return quote(text);
}

export function whole(text: string): string {
  const value = parseJson(text).value;
  if (value === null) return NONE;
  const narrow = value.asU32OrNull();
  const wide = value.asI64OrNull();
  return `${narrow === null ? NONE : narrow.value.toString()} ${wide === null ? NONE : wide.value.toString()}`;
}

export function member(text: string, key: string): string {
  const value = parseJson(text).value;
  if (value === null) return NONE;
  const exact = value.get(key);
  const loose = value.getAnyCase(key);
  return `${exact === null ? NONE : exact.toString()} ${loose === null ? NONE : loose.toString()}`;
}

/** Reads a small configuration and shows the first fault. */
export function config(text: string): string {
  const config = Config.of(new Network("1.1.0", "net", text));
  config.string("type");
  const ips = config.object("ips");
  if (ips !== null) {
    ips.strings("families");
    ips.only(["families"]);
  }
  const routes = config.objects("routes");
  for (let i = 0; i < routes.length; i++) routes[i].string("dst");
  config.bool("flag", false);
  const fault = config.fault;
  return fault === null ? "fine" : `${fault.code} ${fault.msg}`;
}

export function requested(text: string, args: string): string {
  const config = Config.of(new Network("1.1.0", "net", text));
  const pairs = new Array<Arg>();
  if (args != "") {
    const split = args.split(";");
    for (let i = 0; i < split.length; i++)
      pairs.push(new Arg(split[i].substring(0, split[i].indexOf("=")), split[i].substring(split[i].indexOf("=") + 1)));
  }
  const name = cniArg(pairs, "K8S_POD_NAME");
  return `${list(runtimeConfigIps(config))} ${list(argsCniIps(config))} ${list(cniArgsIps(pairs))} ${name === null ? NONE : name}`;
}

function list(items: Array<string> | null): string {
  return items === null ? NONE : `[${items.join("|")}]`;
}

/** The kernel's spelling of a hardware address. */
export function mac(text: string): string {
  const read = readMac(text);
  return read === null ? NONE : read;
}
