// The facts of one network by which it is compared with others, and the findings about the network by itself. The facts are small, however long the
// configuration is, so that a controller can keep those of many definitions.

import { isJsonObject } from "../json/document.ts";
import type { Position } from "../json/position.ts";
import { type AddressRange, addressRangesOf } from "./address-ranges.ts";
import { finding, type LintFinding, type LintNetwork, nameOf, offsetIn, offsetInNetwork } from "./finding.ts";

/** A range with its place. */
export interface PlacedRange {
  readonly plugin: number;
  readonly range: AddressRange;
  readonly position: Position;
}

/** A subnet whose gateway a network gives to a bridge. */
export interface BridgeSubnet {
  readonly bridge: string;
  readonly family: 4 | 6;
  readonly subnet: string;
  readonly position: Position;
}

/** The facts of a network that the rules compare. */
export interface NetworkFacts {
  readonly file: string;
  /** The definition as `namespace/name`; empty for a network of a file. */
  readonly object: string;
  readonly name: string;
  /** The name in messages. */
  readonly label: string;
  readonly namePosition: Position;
  /** Text of all plugins, or its digest: networks with equal texts have equal plugins. */
  readonly plugins: string;
  readonly ranges: readonly PlacedRange[];
  readonly bridges: readonly BridgeSubnet[];
}

/** The facts and the findings. `omittedRanges`: ranges beyond the maximum. */
export interface ExaminedNetwork {
  readonly facts: NetworkFacts;
  readonly findings: readonly LintFinding[];
  readonly omittedRanges: number;
}

/** Maximum length of a bridge's name. The kernel's names of links are shorter, so that a longer text names no bridge. */
const maxBridgeLength = 64;

/**
 * Examines a network by itself. The time is near-linear in the configuration's length. `digest`: makes a short text of the plugins' text;
 * absent: the text itself. `maxRanges`: maximum number of ranges that are compared with other networks; absent: all.
 */
export function examineNetwork(network: LintNetwork, digest?: (text: string) => string, maxRanges = Infinity): ExaminedNetwork {
  const { source, object, list } = network;
  const findings: LintFinding[] = [];
  const ranges: PlacedRange[] = [];
  for (const [plugin, { document }] of list.plugins.entries()) {
    const read = addressRangesOf(document.parsed);
    for (const { path, why } of read.bad)
      findings.push(
        finding("invalid-subnet", {
          source,
          object,
          offset: offsetIn(network, plugin, path),
          message: `${path.join(".")}: ${why}`,
        }),
      );
    const own = read.ranges.map((range) => ({ plugin, range, position: source.place(offsetIn(network, plugin, range.path)) }));
    for (const [later, earlier] of overlapsWithin(own)) {
      const message = `${later.range.path.join(".")}: ${later.range.subnet} overlaps ${earlier.range.subnet} of ${earlier.range.path.join(".")}`;
      findings.push(finding("range-overlap", { source, object, offset: offsetIn(network, plugin, later.range.path), message }));
    }
    for (const each of own) ranges.push(each);
  }
  findings.push(...twiceIn(network));
  const text = JSON.stringify(list.plugins.map(({ document }) => document.parsed));
  const facts: NetworkFacts = {
    file: source.file,
    object,
    name: list.name,
    label: nameOf(network),
    namePosition: source.place(offsetInNetwork(network, ["name"])),
    plugins: digest?.(text) ?? text,
    ranges: ranges.slice(0, maxRanges),
    bridges: bridgesOf(network, maxRanges),
  };
  return { facts, findings, omittedRanges: Math.max(0, ranges.length - maxRanges) };
}

/** The order of ranges: by family, then by first address. */
export function compareRanges({ first: a }: AddressRange, { first: b }: AddressRange): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value === b.value ? 0 : a.value < b.value ? -1 : 1;
}

/**
 * Each range of a sorted list that overlaps a range before it, with the one before it that reaches farthest: only that one needs a look, so that many
 * ranges stay fast.
 */
export function* overlapsIn<T extends { readonly range: AddressRange }>(sorted: Iterable<T>): Generator<readonly [T, T]> {
  let widest: T | undefined;
  for (const each of sorted) {
    const isOfFamily = widest?.range.first.family === each.range.first.family;
    if (widest !== undefined && isOfFamily && widest.range.last.value >= each.range.first.value) yield [each, widest];
    if (widest === undefined || !isOfFamily || each.range.last.value > widest.range.last.value) widest = each;
  }
}

/** Ranges of one plugin: host-local refuses them. */
function overlapsWithin(ranges: readonly PlacedRange[]): Iterable<readonly [PlacedRange, PlacedRange]> {
  return overlapsIn(ranges.toSorted((a, b) => compareRanges(a.range, b.range)));
}

/** Plugins that are the same as an earlier one of their list. */
function twiceIn(network: LintNetwork): readonly LintFinding[] {
  const { source, object } = network;
  const seen = new Map<string, number>();
  return network.list.plugins.flatMap(({ type, document }, index) => {
    const text = JSON.stringify(document.parsed);
    const earlier = seen.get(text);
    seen.set(text, earlier ?? index);
    if (earlier === undefined) return [];
    const message = `plugins[${index}] (${type}) is the same as plugins[${earlier}]`;
    return [finding("type-twice", { source, object, offset: offsetIn(network, index, ["type"]), message })];
  });
}

function bridgesOf(network: LintNetwork, maxRanges: number): readonly BridgeSubnet[] {
  const found: BridgeSubnet[] = [];
  for (const [plugin, { type, document }] of network.list.plugins.entries()) {
    const { parsed } = document;
    const isGateway = parsed["isGateway"] === true || parsed["isDefaultGateway"] === true;
    if (!["bridge", "bridge-adapter"].includes(type) || !isGateway || parsed["forceAddress"] === true) continue;
    const bridge = typeof parsed["bridge"] === "string" ? parsed["bridge"] : "cni0";
    if (bridge.length > maxBridgeLength || !isJsonObject(parsed["ipam"])) continue;
    const position = network.source.place(offsetIn(network, plugin, ["bridge"]));
    for (const { first, subnet } of addressRangesOf(parsed).ranges) {
      if (found.length >= maxRanges) return found;
      found.push({ bridge, family: first.family, subnet, position });
    }
  }
  return found;
}
