// A shape as the kernel's qdiscs, classes and filters: the messages that make them, and their comparison with those that exist. No I/O.

import { formatCidr } from "../../../src/net/ip.ts";
import type { ShapingBucket } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import {
  BOUND_CLASS,
  classBucketIn,
  fallbackClassIn,
  FREE_CLASS,
  kernelBucket,
  newClassBuckets,
  newTokenBucket,
  ROOT_HANDLE,
  tokenBucketIn,
} from "../../system/netlink/token-bucket.ts";
import { type Listed, ROOT } from "../../system/netlink/traffic-control.ts";
import { networkFilterIn, networkSelector, newNetworkFilter } from "../../system/netlink/u32-filter.ts";
import type { Message } from "./kernel.ts";
import type { Shape } from "./requests.ts";

/** The address by which packets of a direction are told apart: that of the pod's counterpart. */
const sides = { ingress: "source", egress: "destination" } as const;

/** A direction of the pod's traffic. */
export type Direction = keyof typeof sides;

/** A link that bounds one direction. */
export interface BoundLink {
  readonly index: number;
  readonly name: string;
}

/** The messages that bound a direction at a link's egress: a token bucket, or with networks two classes and their filters. */
export function boundMessages(link: BoundLink, direction: Direction, bucket: ShapingBucket, shape: Shape): readonly Message[] {
  const wanted = kernelBucket(bucket);
  if (shape.bounded === "all")
    return [{ request: newTokenBucket(link.index, wanted), action: `adding the token bucket of ${link.name}` }];
  const { listed, others } = classesOf(shape);
  return [
    ...newClassBuckets(link.index, wanted, others).map((request) => ({ request, action: `adding the classes of ${link.name}` })),
    ...shape.networks.map((network) => ({
      request: newNetworkFilter(link.index, sides[direction], network, listed),
      action: `adding the filter of ${formatCidr(network)} to ${link.name}`,
    })),
  ];
}

function classesOf({ bounded }: Shape): Record<"listed" | "others", typeof FREE_CLASS | typeof BOUND_CLASS> {
  return bounded === "listed" ? { listed: BOUND_CLASS, others: FREE_CLASS } : { listed: FREE_CLASS, others: BOUND_CLASS };
}

/** Whether a root qdisc is one that a shape makes. */
export function isShapes({ parent, handle, kind }: Listed): boolean {
  return parent === ROOT && handle === ROOT_HANDLE && (kind === "tbf" || kind === "htb");
}

/** The traffic control of a link, as the kernel lists it. */
export interface LinkTraffic {
  readonly qdisc: Listed | undefined;
  readonly classes: readonly Listed[];
  readonly filters: readonly Listed[];
}

/** The first difference of a link from the bound of a direction; undefined without one. */
export function boundDifference(
  { name }: BoundLink,
  direction: Direction,
  bucket: ShapingBucket,
  shape: Shape,
  { qdisc, classes, filters }: LinkTraffic,
): string | undefined {
  const wanted = kernelBucket(bucket);
  if (qdisc === undefined) return `${name} has no token bucket`;
  if (shape.bounded === "all") {
    if (qdisc.kind !== "tbf") return `the qdisc of ${name} is ${qdisc.kind}, not tbf`;
    return numberDifference(name, wanted, tokenBucketIn(qdisc.options));
  }
  if (qdisc.kind !== "htb") return `the qdisc of ${name} is ${qdisc.kind}, not htb`;
  const { listed, others } = classesOf(shape);
  if (fallbackClassIn(qdisc.options) !== others) return `the qdisc of ${name} has another default class`;
  const bound = classes.find(({ handle }) => handle === BOUND_CLASS);
  if (bound === undefined) return `${name} has no class for bounded traffic`;
  if (!classes.some(({ handle }) => handle === FREE_CLASS)) return `${name} has no class for other traffic`;
  const { limit: _, ...rest } = wanted;
  return (
    numberDifference(name, rest, classBucketIn(bound.options)) ??
    filterDifference(
      name,
      shape.networks.map((network) => networkSelector(sides[direction], network)),
      listed,
      filters,
    )
  );
}

type Numbers = Readonly<Record<string, number>>;

/** The first number of a bucket that differs from the wanted one; undefined without one. */
export function numberDifference(name: string, wanted: object, found: object): string | undefined {
  const [all, present] = [wanted, found] as readonly [Numbers, Numbers];
  const key = Object.keys(all).find((each) => all[each] !== present[each]);
  return key === undefined ? undefined : `the ${key} of ${name} is ${present[key]}, not ${all[key]}`;
}

function filterDifference(
  name: string,
  selectors: readonly Uint8Array[],
  to: number,
  filters: readonly Listed[],
): string | undefined {
  const found = filters.flatMap(({ options }) => networkFilterIn(options) ?? []);
  if (found.length !== selectors.length) return `${name} has filters of ${found.length} networks, not of ${selectors.length}`;
  const isThere = (selector: Uint8Array): boolean =>
    found.some((each) => each.to === to && Buffer.compare(each.selector, selector) === 0);
  return selectors.every(isThere) ? undefined : `${name} has filters of other networks`;
}
