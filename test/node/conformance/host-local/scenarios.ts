// Generated networks: a configuration and a sequence of calls for each.

import * as fc from "fast-check";
import { formatAddress, readAddress, type IpAddress } from "../../../../src/net/ip.ts";

export interface RangeConfig {
  readonly subnet: string;
  readonly rangeStart?: string;
  readonly rangeEnd?: string;
  readonly gateway?: string;
}

export type RequestBy = "args" | "args.cni" | "runtimeConfig";

export interface Step {
  readonly verb: "ADD" | "DEL" | "CHECK";
  readonly containerId: string;
  readonly ifname: string;
  readonly requests: readonly { readonly by: RequestBy; readonly address: string }[];
}

export interface Scenario {
  /** The configuration without `dataDir`: native host-local and the delegate have a separate directory each. */
  readonly config: {
    readonly cniVersion: string;
    readonly name: string;
    readonly type: string;
    readonly ipam: Readonly<Record<string, unknown>>;
    readonly runtimeConfig?: Readonly<Record<string, unknown>>;
  };
  readonly steps: readonly Step[];
}

type Family = 4 | 6;

interface GeneratedRange {
  readonly family: Family;
  readonly range: RangeConfig;
  /** Addresses to request: the first and the last of the range, the gateway, and some outside the range. */
  readonly interesting: readonly string[];
}

function addressAt(family: Family, value: bigint): string {
  const address: IpAddress = { family, value };
  return formatAddress(address);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The address in another spelling if `spelling` is 1. Plugins must read every spelling and write the canonical one. */
function spellAddress(text: string, spelling: number): string {
  const address = readAddress(text);
  if (address?.family === 6) return spelling === 1 ? text.toUpperCase() : text;
  return spelling === 1 ? `::ffff:${text}` : text;
}

/** A range in the subnet with the number `index`: ranges with different indexes do not overlap. */
function range(family: Family, index: number): fc.Arbitrary<GeneratedRange> {
  const prefix = family === 4 ? fc.constantFrom(22, 24, 27, 28, 29, 30) : fc.constantFrom(64, 112, 120, 124, 125, 126);
  return fc
    .record({
      prefix,
      start: fc.option(fc.nat(6), { nil: undefined, freq: 2 }),
      length: fc.option(fc.nat(5), { nil: undefined, freq: 2 }),
      gateway: fc.option(fc.constantFrom(1, 2, 3, 200), { nil: undefined, freq: 2 }),
      spelling: fc.nat(1),
      empty: fc.boolean(),
    })
    .map(({ prefix: bits, start, length, gateway, spelling, empty }): GeneratedRange => {
      const base = family === 4 ? 0x0a00_0000n + (BigInt(index) << 16n) : (0xfd00n << 112n) + (BigInt(index) << 80n);
      const size = 1n << BigInt((family === 4 ? 32 : 128) - bits);
      const last = size - (family === 4 ? 2n : 1n);
      const from = start === undefined ? undefined : smaller(BigInt(start), last);
      const to = length === undefined ? undefined : smaller((from ?? 1n) + BigInt(length), last);
      const gatewayOffset = gateway === undefined ? undefined : BigInt(gateway);
      const text = (offset: bigint): string => spellAddress(addressAt(family, base + offset), spelling);
      const firstOffset = from ?? 1n;
      const end = to ?? last;
      return {
        family,
        range: {
          subnet: `${addressAt(family, base)}/${bits}`,
          ...(from === undefined ? (empty ? { rangeStart: "" } : {}) : { rangeStart: text(from) }),
          ...(to === undefined ? {} : { rangeEnd: text(to) }),
          ...(gatewayOffset === undefined ? (empty ? { gateway: "" } : {}) : { gateway: text(gatewayOffset) }),
        },
        interesting: [firstOffset, firstOffset + 1n, firstOffset + 2n, end, end + 1n, gatewayOffset ?? 1n].map((offset) =>
          addressAt(family, base + offset),
        ),
      };
    });
}

/** A set of one or two ranges of one family. */
function rangeSet(index: number): fc.Arbitrary<readonly GeneratedRange[]> {
  return fc
    .tuple(fc.constantFrom<Family>(4, 4, 6), fc.boolean())
    .chain(([family, two]) =>
      two
        ? fc
            .tuple(range(family, index * 2 + 1), range(family, index * 2 + 2))
            .map((generated): readonly GeneratedRange[] => generated)
        : range(family, index * 2 + 1).map((generated): readonly GeneratedRange[] => [generated]),
    );
}

const routes = fc.constantFrom<readonly unknown[] | undefined>(
  undefined,
  [],
  [{ dst: "0.0.0.0/0" }],
  [
    { dst: "0.0.0.0/0", gw: "10.1.0.9" },
    { dst: "2001:DB8::/32", gw: "FD00:0::1" },
  ],
  [{ dst: "192.0.2.7/24", gw: "" }],
);

function configOf(sets: readonly (readonly GeneratedRange[])[]): fc.Arbitrary<Scenario["config"]> {
  const families = sets.map((set) => set[0]?.family);
  const repeated = new Set(families).size < families.length;
  const versions = repeated ? ["0.3.1", "0.4.0", "1.0.0"] : ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.0.0"];
  const legacyFits = sets[0]?.length === 1;
  return fc
    .record({ version: fc.constantFrom(...versions), legacy: fc.boolean(), byRuntime: fc.nat(9), routes, unknown: fc.boolean() })
    .map(({ version, legacy, byRuntime, routes: wanted, unknown }) => {
      const plain = sets.map((set) => set.map((generated) => generated.range));
      const first = plain[0]?.[0];
      const rest = plain.slice(1);
      const runtime = byRuntime === 0;
      const lead = legacy && legacyFits && !runtime ? { ...first, ...(rest.length > 0 ? { ranges: rest } : {}) } : undefined;
      return {
        cniVersion: version,
        name: "net",
        type: "bridge",
        ...(unknown ? { bridge: "br0", "x-unknown": { deep: [1, null, "\u{1f40b}"] } } : {}),
        ipam: {
          type: "host-local",
          ...(lead ?? { ranges: runtime ? rest : plain }),
          ...(wanted === undefined ? {} : { routes: wanted }),
        },
        ...(runtime ? { runtimeConfig: { ipRanges: plain.slice(0, 1) } } : {}),
      };
    });
}

interface SetRequest {
  readonly set: number;
  readonly by: RequestBy;
  readonly which: number;
}

function steps(sets: readonly (readonly GeneratedRange[])[]): fc.Arbitrary<readonly Step[]> {
  // At most one request within a set: of several, native picks any (Go's map order).
  const request: fc.Arbitrary<SetRequest> = fc.record({
    set: fc.nat(sets.length - 1),
    by: fc.constantFrom<RequestBy>("args", "args.cni", "runtimeConfig"),
    which: fc.nat(11),
  });
  const step = fc.record({
    verb: fc.constantFrom<Step["verb"]>("ADD", "ADD", "ADD", "DEL", "CHECK"),
    containerId: fc.constantFrom("c1", "c2", "c3", "c4"),
    ifname: fc.constantFrom("eth0", "eth0", "net1"),
    requests: fc.oneof(
      { weight: 2, arbitrary: fc.constant<readonly SetRequest[]>([]) },
      { weight: 1, arbitrary: fc.array(request, { minLength: 1, maxLength: 2 }).map((all): readonly SetRequest[] => all) },
    ),
  });
  const resolved = step.map(({ requests, ...rest }): Step => {
    const bySet = new Map(requests.map((wanted) => [wanted.set, wanted]));
    const byArgs = [...bySet.values()].filter((wanted) => wanted.by === "args");
    return {
      ...rest,
      requests: [...bySet.values()]
        // CNI_ARGS can request one address only.
        .filter((wanted) => wanted.by !== "args" || wanted === byArgs[0])
        .flatMap(({ set, by, which }) => {
          const choices = (sets[set] ?? []).flatMap((generated) => generated.interesting);
          const address = choices[which % Math.max(1, choices.length)];
          return address === undefined ? [] : [{ by, address }];
        }),
    };
  });
  return fc.array(resolved, { minLength: 4, maxLength: 9 });
}

/** A network with one to three range sets, and four to nine calls on it. */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .integer({ min: 1, max: 3 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => rangeSet(index))))
  .chain((sets) => fc.record({ config: configOf(sets), steps: steps(sets) }));

/** stdin and CNI_ARGS of a step, with `dataDir` as the data directory. */
export function callOf({ config: base }: Scenario, step: Step, dataDir: string): { stdin: string; args: string } {
  const by = (way: RequestBy): string[] => step.requests.filter((wanted) => wanted.by === way).map((wanted) => wanted.address);
  const ips = by("runtimeConfig").map((address) => `${address}/24`);
  const config = {
    ...base,
    ipam: { ...base.ipam, dataDir },
    ...(ips.length > 0 ? { runtimeConfig: { ...base.runtimeConfig, ips } } : {}),
    ...(by("args.cni").length > 0 ? { args: { cni: { ips: by("args.cni") } } } : {}),
  };
  const inArgs = by("args").map((address) => `IP=${address}`);
  return { stdin: JSON.stringify(config), args: ["IgnoreUnknown=1", "K8S_POD_NAME=pod", ...inArgs].join(";") };
}
