// Requested addresses: `IP` of CNI_ARGS, `args.cni.ips`, `runtimeConfig.ips`, in this order.

import { Arg, Fault } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { invalidEnvironment } from "plexus/faults";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";
import { RangeSet } from "./range-set";

@final
class RequestedAddress {
  constructor(
    readonly ip: Ip,
    /** Source of the request, for messages. */
    readonly source: string,
  ) {}
}

/** Requested addresses that are not assigned yet. */
@final
export class Requested {
  private readonly addresses: Array<RequestedAddress> = new Array<RequestedAddress>();

  /** Adds the address in `text`, with or without a prefix length; false if malformed. */
  add(text: string, source: string): bool {
    const cidr = Cidr.parseEither(text);
    if (cidr === null) return false;
    for (let i = 0; i < this.addresses.length; i++) if (this.addresses[i].ip.equals(cidr.ip)) return true;
    this.addresses.push(new RequestedAddress(cidr.ip, source));
    return true;
  }

  /** Adds a list from the configuration. */
  addList(config: Config, key: string): void {
    const texts = config.strings(key);
    if (texts === null) return;
    for (let i = 0; i < texts.length; i++) {
      if (!this.add(texts[i], config.where(key))) config.refuse(`${key}[${i}]`, `${quote(texts[i])} is not an IP address`);
    }
  }

  /** Takes the first address that belongs to this set; null if none does. */
  takeFor(set: RangeSet): Ip | null {
    for (let i = 0; i < this.addresses.length; i++) {
      if (set.rangeOf(this.addresses[i].ip) !== null) return this.addresses.splice(i, 1)[0].ip;
    }
    return null;
  }

  get length(): i32 {
    return this.addresses.length;
  }

  toString(): string {
    return this.addresses.map<string>((one) => `${one.ip.toString()} (from ${one.source})`).join(", ");
  }
}

/**
 * Reads CNI_ARGS: `IP`, and `IgnoreUnknown`, without which every other pair is an error (libcni's convention). Of equal keys the
 * last wins.
 */
export function readArgs(args: Array<Arg>, requested: Requested): Fault | null {
  let ip = "";
  let ignoreUnknown = false;
  let unknown = "";
  for (let i = 0; i < args.length; i++) {
    const key = args[i].key;
    const value = args[i].value;
    if (key == "IP") {
      ip = value;
    } else if (key == "IgnoreUnknown") {
      ignoreUnknown = value == "1" || isWord(value, "true");
      if (!ignoreUnknown && value != "0" && !isWord(value, "false")) {
        return invalidEnvironment(`CNI_ARGS: IgnoreUnknown must be 1, true, 0 or false, is ${quote(value)}`);
      }
    } else if (unknown == "") {
      unknown = `${key}=${value}`;
    }
  }
  if (unknown != "" && !ignoreUnknown) {
    return invalidEnvironment(`CNI_ARGS: ${quote(unknown)} is unknown to ipam-host-local, and IgnoreUnknown=1 is not set`);
  }
  if (ip != "" && !requested.add(ip, "IP of CNI_ARGS"))
    return invalidEnvironment(`CNI_ARGS: IP=${quote(ip)} is not an IP address`);
  return null;
}

/** Whether the text equals this lower-case word in any case. */
function isWord(text: string, word: string): bool {
  if (text.length != word.length) return false;
  for (let i = 0; i < word.length; i++) if ((text.charCodeAt(i) | 0x20) != word.charCodeAt(i)) return false;
  return true;
}
