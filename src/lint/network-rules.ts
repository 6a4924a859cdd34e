// The rules that compare networks with each other. They need no node, so a controller can apply them to definitions.

import { isJsonObject } from "../json/document.ts";
import { type AddressRange, addressRangesOf, rangesOverlap } from "./address-ranges.ts";
import { finding, type FindingInit, type LintFinding, type LintNetwork, nameOf, offsetIn, offsetInNetwork } from "./finding.ts";

/** A range with its network and the index of its plugin. */
interface PlacedRange {
  readonly network: LintNetwork;
  readonly plugin: number;
  readonly range: AddressRange;
}

/** Whether a network's findings are wanted. */
type IsSubject = (network: LintNetwork) => boolean;

/**
 * All findings about these networks together: names, ranges, bridges. A finding about two networks is the later one's; with `isSubject` the
 * findings are those of the subjects only, and a finding about two networks is the subject's.
 */
export function lintNetworks(networks: readonly LintNetwork[], isSubject: IsSubject = () => true): readonly LintFinding[] {
  const ranges: PlacedRange[] = [];
  const findings: LintFinding[] = [];
  for (const network of networks) {
    const own: PlacedRange[] = [];
    for (const [plugin, { document }] of network.list.plugins.entries()) {
      const read = addressRangesOf(document.parsed);
      for (const { path, why } of isSubject(network) ? read.bad : [])
        findings.push(finding("invalid-subnet", { ...at(network, plugin, path), message: `${path.join(".")}: ${why}` }));
      own.push(...read.ranges.map((range) => ({ network, plugin, range })));
    }
    if (isSubject(network)) findings.push(...overlapsWithin(own), ...twiceIn(network));
    ranges.push(...own);
  }
  return [
    ...findings,
    ...overlapsBetween(ranges, isSubject),
    ...nameCollisions(networks, isSubject),
    ...bridgeAddresses(networks, isSubject),
  ];
}

/** The network of a pair that gets the finding, and the other one; undefined if neither is a subject. */
function subjectOf<T>(later: T, earlier: T, isSubject: (each: T) => boolean): readonly [T, T] | undefined {
  if (isSubject(later)) return [later, earlier];
  return isSubject(earlier) ? [earlier, later] : undefined;
}

function at(network: LintNetwork, plugin: number, path: readonly (string | number)[]): Omit<FindingInit, "message"> {
  return { source: network.source, object: network.object, offset: offsetIn(network, plugin, path) };
}

/** Ranges of one plugin: host-local refuses them. */
function overlapsWithin(ranges: readonly PlacedRange[]): readonly LintFinding[] {
  return ranges.flatMap(({ network, plugin, range }, index) => {
    const other = ranges.slice(0, index).find((each) => each.plugin === plugin && rangesOverlap(each.range, range));
    if (other === undefined) return [];
    const message = `${range.path.join(".")}: ${range.subnet} overlaps ${other.range.subnet} of ${other.range.path.join(".")}`;
    return [finding("range-overlap", { ...at(network, plugin, range.path), message })];
  });
}

/** Ranges of different networks. Networks of one name share their pool deliberately. */
function overlapsBetween(ranges: readonly PlacedRange[], isSubject: IsSubject): readonly LintFinding[] {
  // Sorted by the first address: only neighbours in this order can overlap, so that many networks stay fast.
  const sorted = ranges.toSorted((a, b) =>
    a.range.first.family === b.range.first.family
      ? a.range.first.value < b.range.first.value
        ? -1
        : 1
      : a.range.first.family - b.range.first.family,
  );
  let widest: PlacedRange | undefined;
  const findings: LintFinding[] = [];
  for (const each of sorted) {
    if (widest !== undefined && rangesOverlap(widest.range, each.range) && widest.network.list.name !== each.network.list.name) {
      const [subject, other] = subjectOf(each, widest, ({ network }) => isSubject(network)) ?? [];
      if (subject !== undefined && other !== undefined) {
        const message = `${subject.range.subnet} overlaps ${other.range.subnet} of network ${nameOf(other.network)}`;
        findings.push(finding("subnet-overlap", { ...at(subject.network, subject.plugin, subject.range.path), message }));
      }
    }
    const isWider =
      widest === undefined ||
      widest.range.first.family !== each.range.first.family ||
      each.range.last.value > widest.range.last.value;
    if (isWider) widest = each;
  }
  return findings;
}

/** Networks of one name with different plugins. The same list twice is one network. */
function nameCollisions(networks: readonly LintNetwork[], isSubject: IsSubject): readonly LintFinding[] {
  const first = new Map<string, LintNetwork>();
  return networks.flatMap((network) => {
    const { name } = network.list;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, network);
      return [];
    }
    const [subject, other] = subjectOf(network, earlier, isSubject) ?? [];
    if (name === "" || subject === undefined || other === undefined || pluginsText(other) === pluginsText(subject)) return [];
    const message = `network ${nameOf(subject)} has the name of network ${nameOf(other)}, and another configuration`;
    const offset = offsetInNetwork(subject, ["name"]);
    return [finding("name-collision", { source: subject.source, object: subject.object, offset, message })];
  });
}

function twiceIn(network: LintNetwork): readonly LintFinding[] {
  const seen = new Map<string, number>();
  return network.list.plugins.flatMap(({ type, document }, index) => {
    const text = JSON.stringify(document.parsed);
    const earlier = seen.get(text);
    seen.set(text, earlier ?? index);
    if (earlier === undefined) return [];
    const message = `plugins[${index}] (${type}) is the same as plugins[${earlier}]`;
    return [finding("type-twice", { ...at(network, index, ["type"]), message })];
  });
}

function bridgeAddresses(networks: readonly LintNetwork[], isSubject: IsSubject): readonly LintFinding[] {
  const bridges = new Map<string, PlacedRange>();
  const findings: LintFinding[] = [];
  for (const network of networks) {
    for (const [plugin, { type, document }] of network.list.plugins.entries()) {
      const { parsed } = document;
      const isGateway = parsed["isGateway"] === true || parsed["isDefaultGateway"] === true;
      if (!["bridge", "bridge-adapter"].includes(type) || !isGateway || parsed["forceAddress"] === true) continue;
      const bridge = typeof parsed["bridge"] === "string" ? parsed["bridge"] : "cni0";
      for (const range of isJsonObject(parsed["ipam"]) ? addressRangesOf(parsed).ranges : []) {
        const key = `${bridge} ${range.first.family}`;
        const placed = { network, plugin, range };
        const earlier = bridges.get(key);
        bridges.set(key, earlier ?? placed);
        if (earlier === undefined || earlier.range.subnet === range.subnet) continue;
        const [subject, other] = subjectOf(placed, earlier, (each) => isSubject(each.network)) ?? [];
        if (subject === undefined || other === undefined) continue;
        const message = `bridge ${bridge} gets an address of ${subject.range.subnet}, and network ${nameOf(other.network)} gives it one of ${other.range.subnet}`;
        findings.push(finding("bridge-addresses", { ...at(subject.network, subject.plugin, ["bridge"]), message }));
      }
    }
  }
  return findings;
}

function pluginsText({ list }: LintNetwork): string {
  return JSON.stringify(list.plugins.map(({ document }) => document.parsed));
}
