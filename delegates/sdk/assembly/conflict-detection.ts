// conflictDetection: before the pod's interface gets IPAM's addresses, the neighbours are asked whether one of them has an address.

import { AddressCheck } from "./address-check";
import { Conflict, probe, send } from "./abi/announce";
import * as delegation from "./abi/delegation";
import { SuccessOrFault } from "./abi/plugin";
import { Call, Fault, IpConfig, Success } from "./abi/types";
import { Cidr } from "./cidr";
import { Config } from "./config";
import { CniCode, lacksCapability, tryAgainLater } from "./faults";
import { foldedMember } from "./folded";
import { Ip } from "./ip";
import { Some } from "./some";

const ipamKeys: StaticArray<string> = ["type", "conflictDetection"];
const keys: StaticArray<string> = ["waitMs", "probes", "detectGateway"];
/** Addresses that are tried for one attachment. */
const maxTries: i32 = 3;
const defaultWaitMs: u32 = 250;
const defaultProbes: u32 = 2;
/** Maximum milliseconds of all probes of one try, as the capability has it. */
const maxMilliseconds: u64 = 10000;

/** The settings `conflictDetection` of the IPAM part. */
@final
export class ConflictDetection extends AddressCheck {
  private constructor(
    /** Wait for answers after each probe. */
    readonly waitMs: u32,
    readonly probes: u32,
    /** Whether the gateways of the addresses must answer. */
    readonly detectGateway: bool,
  ) {
    super();
  }

  /** Reads `ipam.conflictDetection`; null without it, and without an IPAM plugin. A mistake is kept in `root.fault`. */
  static read(root: Config): ConflictDetection | null {
    const ipam = foldedMember(root, "ipam", ipamKeys);
    if (ipam === null || !ipam.has("type")) return null;
    const config = foldedMember(ipam, "conflictDetection", keys);
    if (config === null) return null;
    const waitMs = numberIn(config, "waitMs", defaultWaitMs, 10000);
    const probes = numberIn(config, "probes", defaultProbes, 10);
    if (<u64>waitMs * <u64>probes > maxMilliseconds) config.refuse("waitMs", `times probes must be at most ${maxMilliseconds}`);
    return new ConflictDetection(waitMs, probes, config.bool("detectGateway", false));
  }

  /** The same without `detectGateway`, for a network whose gateway this delegate makes itself. */
  withoutGateway(): ConflictDetection {
    return new ConflictDetection(this.waitMs, this.probes, false);
  }

  /**
   * IPAM's result whose addresses no neighbour has. `first`: its result so far. An address that another host has is given back with all of the result, and
   * IPAM is asked again, for at most three results. The pod's interface exists, is up and has none of the addresses. After a fault IPAM
   * still holds the last result for the attachment.
   */
  settle(ipam: string, first: Success): SuccessOrFault {
    const found = new Array<string>();
    let result = SuccessOrFault.ok(first);
    for (let tries = 1; result.isOk; tries++) {
      const answers = this.ask(result.value.ips);
      if (answers.fault !== null) return SuccessOrFault.err(answers.fault as Fault);
      if (answers.ofAddresses.length == 0) {
        const silent = answers.silentGateway;
        return silent === null ? result : SuccessOrFault.err(this.unreachable(silent));
      }
      const repeats = note(found, answers.ofAddresses);
      if (repeats || tries == maxTries) return SuccessOrFault.err(tryAgainLater(`address conflict: ${found.join("; ")}`));
      const released = delegation.del(ipam, null);
      if (released !== null) return SuccessOrFault.err(released);
      result = delegation.add(ipam, null);
    }
    return result;
  }

  /**
   * Tells the neighbours of the IPv4 addresses (RFC 5227 section 2.3): the interface was up before, so the kernel's arp_notify did not. The kernel's own
   * detection of IPv6 addresses tells them.
   */
  announce(ips: Array<IpConfig>): Fault | null {
    const addresses = new Array<string>();
    for (let i = 0; i < ips.length; i++) {
      const cidr = Cidr.parse(ips[i].address);
      if (cidr !== null && cidr.ip.family == 4) addresses.push(cidr.ip.toString());
    }
    return addresses.length == 0 ? null : send(addresses);
  }

  private ask(ips: Array<IpConfig>): Answers {
    const answers = new Answers();
    const addresses = new Array<string>();
    for (let i = 0; i < ips.length; i++) {
      const cidr = Cidr.parse(ips[i].address);
      if (cidr !== null) addresses.push(cidr.ip.toString());
    }
    const asked = addresses.slice(0);
    for (let i = 0; this.detectGateway && i < ips.length; i++) {
      const text = ips[i].gateway;
      const gateway: Ip | null = text === null ? null : Ip.parse(text);
      if (gateway !== null && !asked.includes(gateway.toString())) asked.push(gateway.toString());
    }
    if (asked.length == 0) return answers;
    const probed = probe(asked, this.probes, this.waitMs);
    if (!probed.isOk) {
      answers.fault = probed.error;
      return answers;
    }
    const answered = new Array<string>();
    for (let i = 0; i < probed.value.length; i++) {
      answered.push(probed.value[i].address);
      if (addresses.includes(probed.value[i].address)) answers.ofAddresses.push(probed.value[i]);
    }
    for (let i = addresses.length; i < asked.length && answers.silentGateway === null; i++)
      if (!answered.includes(asked[i])) answers.silentGateway = asked[i];
    return answers;
  }

  private unreachable(gateway: string): Fault {
    const where = `${this.probes} probes with ${this.waitMs} ms after each`;
    return tryAgainLater(`ipam.conflictDetection.detectGateway: no host answers for the gateway ${gateway} (${where})`);
  }
}

/** The fault of a call without the capability; null with it, and without the setting. A setting without effect would give an address twice. */
export function refuseUnprobed(detection: ConflictDetection | null, call: Call): Fault | null {
  if (detection === null || call.granted.includes("announce")) return null;
  return lacksCapability("ipam.conflictDetection", "announce");
}

/** STATUS: the same as a reason why no ADD can succeed. */
export function notReadyUnprobed(detection: ConflictDetection | null, call: Call): Fault | null {
  const refused = refuseUnprobed(detection, call);
  return refused === null ? null : new Fault(CniCode.NotAvailable, refused.msg);
}

@final
class Answers {
  fault: Fault | null = null;
  /** Other hosts that have addresses of the attachment. */
  readonly ofAddresses: Array<Conflict> = new Array<Conflict>();
  /** The first gateway that does not answer. */
  silentGateway: string | null = null;
}

/** Appends a text for each conflict. True: IPAM has given an address again that another host has, so there is no next one. */
function note(found: Array<string>, others: Array<Conflict>): bool {
  let repeats = false;
  for (let i = 0; i < others.length; i++) {
    const text = `${others[i].address} is in use by the host with MAC ${others[i].mac}`;
    if (found.includes(text)) repeats = true;
    else found.push(text);
  }
  return repeats;
}

function numberIn(config: Config, key: string, absent: u32, max: i64): u32 {
  const value: Some<i64> | null = config.integer(key);
  if (value === null) return absent;
  if (value.value >= 1 && value.value <= max) return <u32>value.value;
  config.refuse(key, `must be from 1 to ${max}`);
  return absent;
}
