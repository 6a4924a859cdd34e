// STATUS: whether ADD would succeed now.

import { Fault, StatusRequest } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import * as resolver from "plexus/abi/resolver";
import { CniCode, withDetails } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Range } from "./range";
import { RangeSet } from "./range-set";
import { Settings } from "./settings";

/** Answers code 50 with the reason if ADD would fail. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  if (settings.fault !== null) return settings.fault;
  const storeFault = leases.probe(settings.pool(0));
  if (storeFault !== null) return notAvailable(storeFault);
  if (settings.resolvConf != "") {
    const dns = resolver.read(settings.resolvConf);
    if (!dns.isOk) return notAvailable(dns.error);
  }
  for (let i = 0; i < settings.sets.length; i++) {
    const set = settings.sets[i];
    const spans = assignableRanges(set);
    let capacity: u64 = 0;
    for (let j = 0; j < spans.length; j++) capacity += sizeOf(spans[j]);
    const maxCount = capacity > u32.MAX_VALUE ? u32.MAX_VALUE : <u32>capacity;
    const ranges = spans.map<leases.AddressRange>((span) => span.toAddressRange());
    const held = leases.count(settings.pool(i), ranges, maxCount);
    if (!held.isOk) return notAvailable(held.error);
    if (held.value >= maxCount)
      return new Fault(CniCode.NotAvailable, `no address is free in ${set.toString()}: all ${maxCount} are taken`);
  }
  return null;
}

/** The fault for STATUS: the same reason, with the code "not available". */
function notAvailable(reason: Fault): Fault {
  const fault = new Fault(CniCode.NotAvailable, reason.msg);
  const details = reason.details;
  return details === null ? fault : withDetails(fault, details);
}

/** The set's ranges without their gateways, which are never assigned. */
function assignableRanges(set: RangeSet): Array<Range> {
  let spans = set.ranges;
  for (let i = 0; i < set.ranges.length; i++) {
    const gateway = set.ranges[i].gateway;
    const split = new Array<Range>();
    for (let j = 0; j < spans.length; j++) splitAround(spans[j], gateway, split);
    spans = split;
  }
  return spans;
}

/** Adds the parts of `span` without the address to `out`. */
function splitAround(span: Range, without: Ip, out: Array<Range>): void {
  if (!span.contains(without)) {
    out.push(span);
    return;
  }
  if (!without.equals(span.first)) out.push(new Range(span.first, without.prev() as Ip, span.gateway, span.prefix));
  if (!without.equals(span.last)) out.push(new Range(without.next() as Ip, span.last, span.gateway, span.prefix));
}

/** The number of addresses, at most 2^32. */
function sizeOf(span: Range): u64 {
  const difference = span.last.lo - span.first.lo;
  const wide = span.last.hi != span.first.hi && !(span.last.hi == span.first.hi + 1 && span.last.lo < span.first.lo);
  return wide || difference > u32.MAX_VALUE ? <u64>u32.MAX_VALUE + 1 : difference + 1;
}
