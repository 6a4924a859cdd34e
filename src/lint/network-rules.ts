// The rules that compare networks with each other. They need no node, so a controller can apply them to definitions.

import type { Position } from "../json/position.ts";
import type { LintFinding, LintNetwork } from "./finding.ts";
import {
  type BridgeSubnet,
  compareRanges,
  examineNetwork,
  type NetworkFacts,
  overlapsIn,
  type PlacedRange,
} from "./network-facts.ts";
import { type LintRuleId, lintRules } from "./rules.ts";
import { allSteps, sortedInSteps, type WorkSteps } from "./work-steps.ts";

/** Whether a network's findings are wanted. */
type IsSubject = (network: NetworkFacts) => boolean;

/** A network with the part of it that a rule checks. */
interface PartOfNetwork {
  readonly network: NetworkFacts;
}

/** Comparisons of a step. */
const stepSize = 1024;

/** All findings about these networks: names, ranges, bridges. A finding about two networks is the later one's. */
export function lintNetworks(networks: readonly LintNetwork[]): readonly LintFinding[] {
  const examined = networks.map((network) => examineNetwork(network));
  const between = allSteps(compareNetworks(examined.map(({ facts }) => facts)));
  return [...examined.flatMap(({ findings }) => findings), ...between];
}

/**
 * The findings about networks together. With `isSubject` the findings are those of the subjects only, and a finding about two networks is the subject's.
 * The work is in steps, and near-linear.
 */
export function* compareNetworks(
  networks: readonly NetworkFacts[],
  isSubject: IsSubject = () => true,
): WorkSteps<readonly LintFinding[]> {
  const findings: LintFinding[] = [];
  for (const rule of [overlapsBetween, nameCollisions, bridgeAddresses])
    for (const found of yield* rule(networks, isSubject)) findings.push(found);
  return findings;
}

/** The network of a pair that gets the finding, and the other one; undefined if neither is a subject. */
function subjectOf<T extends PartOfNetwork>(later: T, earlier: T, isSubject: IsSubject): readonly [T, T] | undefined {
  if (isSubject(later.network)) return [later, earlier];
  return isSubject(earlier.network) ? [earlier, later] : undefined;
}

function findingAt(rule: LintRuleId, { file, object }: NetworkFacts, position: Position, message: string): LintFinding {
  const { severity, remedy } = lintRules[rule];
  return { rule, severity, file, object, ...position, message, remedy };
}

/** Ranges of different networks. Networks of one name share their pool deliberately. */
function* overlapsBetween(networks: readonly NetworkFacts[], isSubject: IsSubject): WorkSteps<readonly LintFinding[]> {
  const ranges: (PlacedRange & PartOfNetwork)[] = [];
  for (const network of networks) {
    for (const range of network.ranges) ranges.push({ ...range, network });
    yield network.ranges.length + 1;
  }
  const findings: LintFinding[] = [];
  const sorted = yield* sortedInSteps(ranges, (a, b) => compareRanges(a.range, b.range));
  let compared = 0;
  for (const [each, widest] of overlapsIn(sorted)) {
    if (++compared % stepSize === 0) yield stepSize;
    if (widest.network.name === each.network.name) continue;
    const [subject, other] = subjectOf(each, widest, isSubject) ?? [];
    if (subject === undefined || other === undefined) continue;
    const message = `${subject.range.subnet} overlaps ${other.range.subnet} of network ${other.network.label}`;
    findings.push(findingAt("subnet-overlap", subject.network, subject.position, message));
  }
  return findings;
}

/** Networks of one name with different plugins. The same list twice is one network. */
function* nameCollisions(networks: readonly NetworkFacts[], isSubject: IsSubject): WorkSteps<readonly LintFinding[]> {
  const first = new Map<string, NetworkFacts>();
  const findings: LintFinding[] = [];
  for (const [index, network] of networks.entries()) {
    if (index % stepSize === stepSize - 1) yield stepSize;
    const { name } = network;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, network);
      continue;
    }
    const [subject, other] = subjectOf({ network }, { network: earlier }, isSubject) ?? [];
    if (name === "" || subject === undefined || other === undefined) continue;
    const [own, foreign] = [subject.network, other.network];
    if (foreign.plugins === own.plugins) continue;
    const message = `network ${own.label} has the name of network ${foreign.label}, and another configuration`;
    findings.push(findingAt("name-collision", own, own.namePosition, message));
  }
  return findings;
}

function* bridgeAddresses(networks: readonly NetworkFacts[], isSubject: IsSubject): WorkSteps<readonly LintFinding[]> {
  const bridges = new Map<string, BridgeSubnet & PartOfNetwork>();
  const findings: LintFinding[] = [];
  for (const network of networks) {
    for (const each of network.bridges) {
      const { bridge, family } = each;
      const key = `${bridge} ${family}`;
      const placed = { ...each, network };
      const earlier = bridges.get(key);
      bridges.set(key, earlier ?? placed);
      if (earlier === undefined || earlier.subnet === each.subnet) continue;
      const [subject, other] = subjectOf(placed, earlier, isSubject) ?? [];
      if (subject === undefined || other === undefined) continue;
      const message = `bridge ${bridge} gets an address of ${subject.subnet}, and network ${other.network.label} gives it one of ${other.subnet}`;
      findings.push(findingAt("bridge-addresses", subject.network, subject.position, message));
    }
    yield network.bridges.length + 1;
  }
  return findings;
}
