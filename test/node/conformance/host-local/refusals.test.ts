// Valid and invalid configurations: native host-local and the delegate accept and refuse the same ones, and the
// delegate's error names the wrong field. Where the two differ on purpose, the table gives the reason.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isNewer } from "../../../lab/reference-version.ts";
import { referenceReleases } from "../../../lab/reference-releases.ts";
import { missing } from "../../../lab/requires.ts";
import type { Answer, Ipam, IpamCall } from "./calls.ts";
import { contents } from "./directory.ts";
import { native, type NativeIpam } from "./native.ts";
import { wasm } from "./wasm.ts";

let root: string;
let delegate: Ipam;
let runs = 0;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-refusals-"));
  delegate = await wasm({ directories: [root], resolverFiles: [join(root, "resolv.conf")] });
  writeFileSync(join(root, "resolv.conf"), "nameserver 192.0.2.1\nsearch example\noptions ndots:5\n");
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

interface Case {
  readonly about: string;
  /** The `ipam` object without dataDir, or any other JSON value in its place. */
  readonly ipam: unknown;
  /** Further keys of the configuration. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly args?: string;
  /** The delegate's error message must match this; absent if the delegate accepts the configuration. */
  readonly refusal?: RegExp;
  readonly code?: number;
}

const subnet = "10.1.0.0/24";
const ranges = [[{ subnet }]];

const alike: readonly Case[] = [
  // The place of the ranges.
  { about: "no ipam", ipam: undefined, refusal: /^ipam: is missing/ },
  { about: "ipam null", ipam: null, refusal: /^ipam: is missing/ },
  { about: "ipam an array", ipam: [], refusal: /^ipam: must be an object, is an array/ },
  { about: "no ranges at all", ipam: {}, refusal: /^ipam\.ranges: has no ranges/ },
  { about: "ranges empty", ipam: { ranges: [] }, refusal: /^ipam\.ranges: has no ranges/ },
  { about: "ranges an object", ipam: { ranges: { subnet } }, refusal: /^ipam\.ranges: must be an array, is an object/ },
  { about: "ranges one level short", ipam: { ranges: [{ subnet }] }, refusal: /^ipam\.ranges\[0\]: must be an array of ranges/ },
  { about: "an empty range set", ipam: { ranges: [[]] }, refusal: /^ipam\.ranges\[0\]: is an empty range set/ },
  { about: "a null range set", ipam: { ranges: [null] }, refusal: /^ipam\.ranges\[0\]: is an empty range set/ },
  { about: "a null range", ipam: { ranges: [[null]] }, refusal: /^ipam\.ranges\[0\]\[0\]: must be an object, is null/ },
  {
    about: "a range without subnet",
    ipam: { ranges: [[{ rangeStart: "10.1.0.1" }]] },
    refusal: /ranges\[0\]\[0\]\.subnet: is missing/,
  },
  { about: "subnet and ranges", ipam: { subnet, ranges: [[{ subnet: "10.2.0.0/24" }]] } },
  { about: "rangeStart without subnet", ipam: { rangeStart: "10.1.0.9", ranges } },
  { about: "gateway without subnet", ipam: { gateway: "10.1.0.9", ranges } },
  {
    about: "the runtime's ipRanges come before the configuration's",
    ipam: { subnet },
    more: { runtimeConfig: { ipRanges: [[{ subnet: "10.3.0.0/24" }]] } },
  },
  { about: "only the runtime's ipRanges", ipam: {}, more: { runtimeConfig: { ipRanges: [[{ subnet: "10.3.0.0/24" }]] } } },
  {
    about: "an invalid ipRanges from the runtime",
    ipam: { subnet },
    more: { runtimeConfig: { ipRanges: [[{ subnet: "x" }]] } },
    refusal: /^runtimeConfig\.ipRanges\[0\]\[0\]\.subnet/,
  },
  { about: "keys in another case", ipam: { RANGES: [[{ SUBNET: subnet, rangestart: "10.1.0.9" }]] } },
  { about: "a key twice", ipam: { subnet: "10.9.0.0/24", Subnet: subnet } },
  // Subnets.
  {
    about: "a subnet without prefix length",
    ipam: { subnet: "10.1.0.0" },
    refusal: /^ipam\.subnet: "10\.1\.0\.0" is not a subnet in CIDR notation/,
  },
  { about: "a subnet null", ipam: { subnet: null }, refusal: /^ipam\.subnet: must be a string, is null/ },
  { about: "a subnet empty", ipam: { subnet: "" }, refusal: /^ipam\.subnet: "" is not a subnet/ },
  { about: "a subnet a number", ipam: { subnet: 5 }, refusal: /^ipam\.subnet: must be a string, is a number/ },
  {
    about: "a subnet with leading zeros",
    ipam: { subnet: "10.01.0.0/24" },
    refusal: /^ipam\.subnet: "10\.01\.0\.0\/24" is not a subnet/,
  },
  { about: "a prefix too long", ipam: { subnet: "10.1.0.0/33" }, refusal: /^ipam\.subnet/ },
  {
    about: "host bits set",
    ipam: { subnet: "10.1.0.5/24" },
    refusal: /^ipam\.subnet: 10\.1\.0\.5\/24 has host bits set: the network is 10\.1\.0\.0\/24/,
  },
  {
    about: "an IPv4 subnet written as IPv6",
    ipam: { subnet: "::ffff:10.1.0.0/120" },
    refusal: /^ipam\.subnet: .* write 10\.1\.0\.0\/24/,
  },
  { about: "a /31", ipam: { subnet: "10.1.0.0/31" }, refusal: /^ipam\.subnet: 10\.1\.0\.0\/31 is too small: .* at most \/30/ },
  { about: "a /32", ipam: { subnet: "10.1.0.0/32" }, refusal: /too small/ },
  { about: "a /127", ipam: { subnet: "fd00::/127" }, refusal: /too small: .* at most \/126/ },
  { about: "a /30", ipam: { subnet: "10.1.0.0/30" } },
  { about: "a /126", ipam: { subnet: "fd00::/126" } },
  { about: "an IPv6 subnet in upper case", ipam: { subnet: "2001:DB8:0:0::/64" } },
  // Bounds and gateway.
  {
    about: "rangeStart outside",
    ipam: { subnet, rangeStart: "10.2.0.1" },
    refusal: /^ipam\.rangeStart: 10\.2\.0\.1 is not in the subnet 10\.1\.0\.0\/24/,
  },
  {
    about: "rangeEnd outside",
    ipam: { subnet, rangeEnd: "10.2.0.1" },
    refusal: /^ipam\.rangeEnd: 10\.2\.0\.1 is not in the subnet/,
  },
  { about: "rangeEnd of the other family", ipam: { subnet, rangeEnd: "fd00::1" }, refusal: /^ipam\.rangeEnd/ },
  {
    about: "rangeEnd before rangeStart",
    ipam: { subnet, rangeStart: "10.1.0.9", rangeEnd: "10.1.0.5" },
    refusal: /^ipam\.rangeEnd: the range 10\.1\.0\.9-10\.1\.0\.5 ends before it starts/,
  },
  { about: "rangeEnd before the first address", ipam: { subnet, rangeEnd: "10.1.0.0" }, refusal: /^ipam\.rangeEnd/ },
  { about: "rangeStart the network's own address", ipam: { subnet, rangeStart: "10.1.0.0" } },
  { about: "rangeEnd the broadcast address", ipam: { subnet, rangeStart: "10.1.0.254", rangeEnd: "10.1.0.255" } },
  { about: "rangeStart empty", ipam: { subnet, rangeStart: "" } },
  {
    about: "rangeStart with a zone",
    ipam: { subnet: "fe80::/64", rangeStart: "fe80::5%eth0" },
    refusal: /^ipam\.rangeStart: "fe80::5%eth0" is not an IP address/,
  },
  {
    about: "a range of the gateway alone",
    ipam: { subnet, rangeStart: "10.1.0.1", rangeEnd: "10.1.0.1" },
    refusal: /no address is free in ipam\.subnet \(10\.1\.0\.1-10\.1\.0\.1\)/,
    code: 100,
  },
  { about: "a gateway outside", ipam: { subnet, gateway: "192.0.2.1" } },
  { about: "a gateway of the other family", ipam: { subnet, gateway: "fd00::1" } },
  { about: "a gateway empty", ipam: { subnet, gateway: "" } },
  { about: "an invalid gateway", ipam: { subnet, gateway: "x" }, refusal: /^ipam\.gateway: "x" is not an IP address/ },
  { about: "a gateway within the range", ipam: { subnet, rangeEnd: "10.1.0.3", gateway: "10.1.0.2" } },
  // Overlaps and families.
  {
    about: "families mixed in a set",
    ipam: { ranges: [[{ subnet }, { subnet: "fd00::/64" }]] },
    refusal: /^ipam\.ranges\[0\]\[1\]: is an IPv6 range in a set of IPv4 ranges/,
  },
  {
    about: "an overlap within a set",
    ipam: { ranges: [[{ subnet }, { subnet: "10.1.0.0/25" }]] },
    refusal: /^ipam\.ranges\[0\]\[1\]: 10\.1\.0\.1-10\.1\.0\.126 overlaps with 10\.1\.0\.1-10\.1\.0\.254/,
  },
  {
    about: "an overlap between sets",
    ipam: { ranges: [[{ subnet }], [{ subnet: "10.1.0.0/25" }]] },
    refusal: /^ipam\.ranges\[1\]: overlaps with ipam\.ranges\[0\]/,
  },
  {
    about: "an overlap of subnet and ranges",
    ipam: { subnet, ranges },
    refusal: /^ipam\.ranges\[0\]: overlaps with ipam\.subnet/,
  },
  {
    about: "neighbours in one subnet",
    ipam: {
      ranges: [
        [
          { subnet, rangeEnd: "10.1.0.50" },
          { subnet, rangeStart: "10.1.0.51" },
        ],
      ],
    },
  },
  {
    about: "two addresses of the same family in 0.2.0",
    ipam: { ranges: [[{ subnet }], [{ subnet: "10.2.0.0/24" }]] },
    more: { cniVersion: "0.2.0" },
    refusal: /^cniVersion: 0\.2\.0 allows one address of each family, but the range sets assign 2/,
  },
  {
    about: "an address of each family in 0.2.0",
    ipam: { ranges: [[{ subnet }], [{ subnet: "fd00::/64" }]] },
    more: { cniVersion: "0.2.0" },
  },
  {
    about: "two addresses of the same family in 0.3.0",
    ipam: { ranges: [[{ subnet }], [{ subnet: "10.2.0.0/24" }]] },
    more: { cniVersion: "0.3.0" },
  },
  { about: "no cniVersion", ipam: { subnet }, more: { cniVersion: undefined } },
  // Routes.
  {
    about: "routes with and without gateway",
    ipam: { subnet, routes: [{ dst: "0.0.0.0/0" }, { dst: "10.5.0.7/16", gw: "10.1.0.3" }, { dst: "::/0", gw: "" }] },
  },
  { about: "routes null", ipam: { subnet, routes: null } },
  { about: "routes an object", ipam: { subnet, routes: {} }, refusal: /^ipam\.routes: must be an array, is an object/ },
  {
    about: "an invalid destination",
    ipam: { subnet, routes: [{ dst: "x" }] },
    refusal: /^ipam\.routes\[0\]\.dst: "x" is not a destination in CIDR notation/,
  },
  { about: "a destination empty", ipam: { subnet, routes: [{ dst: "" }] }, refusal: /^ipam\.routes\[0\]\.dst/ },
  {
    about: "an invalid gateway of a route",
    ipam: { subnet, routes: [{ dst: "0.0.0.0/0", gw: "x" }] },
    refusal: /^ipam\.routes\[0\]\.gw: "x" is not an IP address/,
  },
  // Requested addresses.
  { about: "an address from the runtime", ipam: { subnet }, more: { runtimeConfig: { ips: ["10.1.0.7/16"] } } },
  { about: "an address from args.cni", ipam: { subnet }, more: { args: { cni: { ips: ["10.1.0.7"] } } } },
  { about: "an address from CNI_ARGS", ipam: { subnet }, args: "IP=10.1.0.7" },
  { about: "an address with a prefix from CNI_ARGS", ipam: { subnet }, args: "IP=10.1.0.7/8" },
  { about: "two addresses from CNI_ARGS: the last one counts", ipam: { subnet }, args: "IP=10.1.0.7;IP=10.1.0.8" },
  { about: "an empty address from CNI_ARGS", ipam: { subnet }, args: "IP=" },
  {
    about: "the same address three times",
    ipam: { subnet },
    more: { runtimeConfig: { ips: ["10.1.0.7", "10.1.0.7/24"] } },
    args: "IP=::ffff:10.1.0.7",
  },
  {
    about: "a requested address for each of two range sets",
    ipam: { ranges: [[{ subnet }], [{ subnet: "fd00::/64" }]] },
    more: { runtimeConfig: { ips: ["fd00::7"] }, args: { cni: { ips: ["10.1.0.7"] } } },
  },
  {
    about: "two requested addresses for one range set",
    ipam: { subnet },
    more: { runtimeConfig: { ips: ["10.1.0.7", "10.1.0.8"] } },
    refusal: /no range set can assign the requested 10\.1\.0\.8 \(from runtimeConfig\.ips\)/,
    code: 101,
  },
  {
    about: "a requested address in no range set",
    ipam: { subnet },
    args: "IP=192.0.2.1",
    refusal: /no range set can assign the requested 192\.0\.2\.1 \(from IP of CNI_ARGS\)/,
    code: 101,
  },
  {
    about: "a requested address that is the gateway",
    ipam: { subnet },
    args: "IP=10.1.0.1",
    refusal: /the requested address 10\.1\.0\.1 is the gateway/,
    code: 101,
  },
  {
    about: "an invalid address from the runtime",
    ipam: { subnet },
    more: { runtimeConfig: { ips: ["x"] } },
    refusal: /^runtimeConfig\.ips\[0\]: "x" is not an IP address/,
  },
  {
    about: "an empty address from the runtime",
    ipam: { subnet },
    more: { runtimeConfig: { ips: [""] } },
    refusal: /^runtimeConfig\.ips\[0\]/,
  },
  {
    about: "a null address from the runtime",
    ipam: { subnet },
    more: { runtimeConfig: { ips: [null] } },
    refusal: /^runtimeConfig\.ips\[0\]: must be a string, is null/,
  },
  {
    about: "ips a string",
    ipam: { subnet },
    more: { runtimeConfig: { ips: "10.1.0.7" } },
    refusal: /^runtimeConfig\.ips: must be an array, is a string/,
  },
  { about: "ips null", ipam: { subnet }, more: { runtimeConfig: { ips: null } } },
  { about: "runtimeConfig null", ipam: { subnet }, more: { runtimeConfig: null } },
  {
    about: "runtimeConfig an array",
    ipam: { subnet },
    more: { runtimeConfig: [] },
    refusal: /^runtimeConfig: must be an object, is an array/,
  },
  { about: "args an array", ipam: { subnet }, more: { args: [] }, refusal: /^args: must be an object/ },
  { about: "args.cni a string", ipam: { subnet }, more: { args: { cni: "x" } }, refusal: /^args\.cni: must be an object/ },
  { about: "args.cni null", ipam: { subnet }, more: { args: { cni: null } } },
  // CNI_ARGS.
  { about: "an invalid IP", ipam: { subnet }, args: "IP=zz", refusal: /^CNI_ARGS: IP="zz" is not an IP address/, code: 4 },
  {
    about: "an unknown pair",
    ipam: { subnet },
    args: "K8S_POD_NAME=x",
    refusal: /^CNI_ARGS: "K8S_POD_NAME=x" is unknown to ipam-host-local, and IgnoreUnknown=1 is not set/,
    code: 4,
  },
  { about: "an unknown pair ignored", ipam: { subnet }, args: "IgnoreUnknown=TRUE;K8S_POD_NAME=x" },
  {
    about: "the last IgnoreUnknown counts",
    ipam: { subnet },
    args: "IgnoreUnknown=1;a=b;IgnoreUnknown=0",
    refusal: /^CNI_ARGS: "a=b"/,
    code: 4,
  },
  {
    about: "an invalid IgnoreUnknown",
    ipam: { subnet },
    args: "IgnoreUnknown=yes",
    refusal: /^CNI_ARGS: IgnoreUnknown must be 1, true, 0 or false, is "yes"/,
    code: 4,
  },
  { about: "ip in lower case", ipam: { subnet }, args: "ip=10.1.0.7", refusal: /"ip=10\.1\.0\.7" is unknown/, code: 4 },
  // Other keys.
  { about: "type a number", ipam: { subnet, type: 5 }, refusal: /^ipam\.type: must be a string/ },
  { about: "dataDir a number", ipam: { subnet, dataDir: 5 }, refusal: /^ipam\.dataDir: must be a string/ },
  { about: "resolvConf", ipam: { subnet, resolvConf: "ROOT/resolv.conf" } },
  { about: "resolvConf empty", ipam: { subnet, resolvConf: "" } },
  { about: "resolvConf a number", ipam: { subnet, resolvConf: 1 }, refusal: /^ipam\.resolvConf: must be a string/ },
  {
    about: "resolvConf missing",
    ipam: { subnet, resolvConf: "ROOT/none" },
    refusal: /ipam\.resolvConf ".*none" is not an allowed file/,
  },
  { about: "no name", ipam: { subnet }, more: { name: undefined }, refusal: /name/ },
];

/** Configurations that only one of the two accepts: native host-local or the delegate. README.md lists them. */
const different: readonly (Case & { readonly why: string })[] = [
  {
    about: "rangeStart the broadcast address without rangeEnd",
    why: "native hands out the broadcast address and then addresses beyond the subnet",
    ipam: { subnet, rangeStart: "10.1.0.255" },
    refusal: /^ipam\.rangeStart: the range 10\.1\.0\.255-10\.1\.0\.254 ends before it starts/,
  },
  {
    about: "a route without destination",
    why: "native prints <nil>, which no plugin can read",
    ipam: { subnet, routes: [{ gw: "10.1.0.1" }] },
    refusal: /^ipam\.routes\[0\]\.dst: is missing/,
  },
  {
    about: "a null route",
    why: "native prints null into the result",
    ipam: { subnet, routes: [null] },
    refusal: /^ipam\.routes\[0\]: must be an object, is null/,
  },
];

/** Configurations that native host-local treats as the delegate does from version 1.6.0 on. */
const older: readonly (Case & { readonly why: string })[] = [
  {
    about: "CNI 1.1.0",
    why: "Debian's host-local 1.1.1 speaks up to 1.0.0",
    ipam: { subnet },
    more: { cniVersion: "1.1.0" },
  },
  {
    about: "0.0.0.0/0",
    why: "host-local 1.1.1 counts wrongly if an address begins with a zero byte; later versions do not",
    ipam: { subnet: "0.0.0.0/0" },
  },
];

function callOf({ ipam, more, args = "" }: Case, dataDir: string): IpamCall {
  const placed = JSON.parse(JSON.stringify(ipam ?? null).replaceAll("ROOT", root));
  const config = {
    cniVersion: "1.0.0",
    name: "net",
    type: "bridge",
    ...(ipam === undefined ? {} : { ipam: isObject(placed) ? { dataDir, ...placed } : placed }),
    ...more,
  };
  return { verb: "ADD", containerId: "c1", ifname: "eth0", args, stdin: JSON.stringify(config) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function callDelegate(each: Case): Promise<{ answer: Answer; files: Readonly<Record<string, string>> }> {
  const dataDir = join(root, String(runs++));
  return { answer: await delegate.call(callOf(each, dataDir)), files: contents(dataDir) };
}

/** Native host-local tries two requested addresses of one range set in random order: its last_reserved_ip is random. */
function withoutRandomFiles({ about }: Case, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return about === "two requested addresses for one range set" ? {} : files;
}

describe("the delegate", () => {
  test.each([...alike, ...different, ...older])("$about", async (each) => {
    const { answer, files } = await callDelegate(each);
    const { refusal, code = 7 } = each;
    const { ok, ...error } = answer.ok ? { ok: true, code: 0, msg: "" } : answer;
    expect(ok).toBe(refusal === undefined);
    expect(error.code).toBe(refusal === undefined ? 0 : code);
    expect(error.msg).toMatch(refusal ?? /^$/);
    const leases = Object.keys(files).filter((name) => !name.includes("last_reserved_ip"));
    expect(leases.length > 0).toBe(each.refusal === undefined);
  });
});

describe.each(referenceReleases)("reference plugins $release", (release) => {
  describe.skipIf(missing("refusals of native host-local", release.requires("host-local")))("native host-local", () => {
    let reference: NativeIpam;
    beforeAll(() => void (reference = native(release.plugin("host-local"))));
    afterAll(() => reference.close());

    const isNew = isNewer(release.plugin("host-local"));

    test.each([...alike, ...(isNew ? older : [])])("agrees with the delegate: $about", async (each) => {
      const { answer, files } = await callDelegate(each);
      const dataDir = join(root, String(runs++));
      const expected = await reference.call(callOf(each, dataDir));
      expect(answer.ok ? answer : { ok: false }).toEqual(expected.ok ? expected : { ok: false });
      expect(withoutRandomFiles(each, files)).toEqual(withoutRandomFiles(each, contents(dataDir)));
    });

    test.each([...different, ...(isNew ? [] : older)])("differs from the delegate: $about ($why)", async (each) => {
      const call = callOf(each, join(root, String(runs++)));
      // An accepted call whose result cannot be read still counts as accepted.
      const accepted = await reference.call(call).then(
        (answer) => answer.ok,
        () => true,
      );
      expect(accepted).toBe(each.refusal !== undefined);
    });
  });
});
