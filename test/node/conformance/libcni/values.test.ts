// Compares how Plexus and libcni read names, versions, results and configuration files, and how they convert results.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAttachedInterfaceName, checkContainerId, checkNetworkName } from "../../../../src/cni/attachment.ts";
import { convertResult } from "../../../../src/cni/convert-result.ts";
import { listOfOne, parseNetworkList, parsePluginConf } from "../../../../src/cni/network-list.ts";
import { readResult } from "../../../../src/cni/read-result.ts";
import { parseVersion, SUPPORTED_VERSIONS } from "../../../../src/cni/versions.ts";
import type { Result } from "../../../../src/fault/result.ts";
import { testSeed } from "../../../lab/random-from.ts";
import { missing } from "../../../lab/requires.ts";
import { askOracle, missingOracle, type OracleAnswer, type OracleOperation } from "./oracle.ts";

const seed = testSeed("values of libcni", 20_261_121);

/** Samples that depend on the seed only, so that a failure can be reproduced. */
function samples<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed, numRuns: count });
}

function ask(operations: readonly OracleOperation[]): readonly OracleAnswer[] {
  return askOracle(["/nonexistent"], "/nonexistent", operations);
}

/** The CNI error code of a refusal, or "accepted". */
function codeOf(result: Result<unknown>): number | "accepted" {
  return result.ok ? "accepted" : result.fault.code;
}

function libcniCode(answer: OracleAnswer | undefined): number | "accepted" {
  return answer?.error === undefined ? "accepted" : answer.error.code;
}

const awkward = [
  "",
  ".",
  "..",
  "a/b",
  "a:b",
  "a b",
  "a\tb",
  "a\u0085",
  "\u00a0",
  "\ufeff",
  "\u2028",
  "\u3000",
  "é",
  "-a",
  "_a",
  ".a",
  "a\n",
  "a.b-c_d",
  "15-bytes-exactly",
  "16-bytes-exactly!",
];
const someName = fc.oneof(
  fc.string({ maxLength: 18 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.stringMatching(/^[a-zA-Z0-9_.-]{1,17}$/),
  fc.constantFrom(...awkward),
);

const address4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`);
const address6 = fc
  .tuple(fc.constantFrom("fd00::1", "2001:db8::a:b", "fe80::1", "::1", "fd00:1:2:3:4:5:6:7"), fc.integer({ min: 0, max: 128 }))
  .map(([ip, bits]) => `${ip}/${bits}`);
const u32 = fc.integer({ min: 1, max: 1500 });
const dns = fc.record(
  {
    nameservers: fc.array(fc.ipV4(), { minLength: 1, maxLength: 2 }),
    domain: fc.constant("example"),
    search: fc.array(fc.domain(), { minLength: 1, maxLength: 2 }),
    options: fc.constant(["ndots:5"]),
  },
  { requiredKeys: [] },
);
const route4 = { dst: fc.constantFrom("0.0.0.0/0", "10.1.0.0/16"), gw: fc.ipV4() };
const route6 = { dst: fc.constantFrom("::/0", "fd01::/64"), gw: fc.constant("fd00::1") };
const more = { mtu: u32, advmss: u32, priority: u32, table: u32, scope: u32 };

const result020 = fc.record(
  {
    ip4: fc.record(
      {
        ip: address4,
        gateway: fc.ipV4(),
        routes: fc.array(fc.record(route4, { requiredKeys: ["dst"] }), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ["ip"] },
    ),
    ip6: fc.record(
      {
        ip: address6,
        gateway: fc.constant("fd00::1"),
        routes: fc.array(fc.record(route6, { requiredKeys: ["dst"] }), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ["ip"] },
    ),
    dns,
  },
  { requiredKeys: [] },
);
const interfaces = fc.array(
  fc.record(
    {
      name: fc.constantFrom("eth0", "net1", "veth1"),
      mac: fc.constant("0a:58:0a:00:00:01"),
      sandbox: fc.constant("/run/netns/x"),
    },
    { requiredKeys: ["name"] },
  ),
  { maxLength: 2 },
);

function routes(extra: Readonly<Record<string, fc.Arbitrary<number>>>): fc.Arbitrary<unknown> {
  const four = fc.record({ ...route4, ...extra }, { requiredKeys: ["dst"] });
  const six = fc.record({ ...route6, ...extra }, { requiredKeys: ["dst"] });
  return fc.array(fc.oneof(four, six), { maxLength: 3 });
}

const ip4 = fc.record({ address: address4, gateway: fc.ipV4(), interface: fc.constantFrom(0, 1) }, { requiredKeys: ["address"] });
const ip6 = fc.record(
  { address: address6, gateway: fc.constant("fd00::1"), interface: fc.constant(0) },
  { requiredKeys: ["address"] },
);
const versionedIps = fc.array(
  fc.oneof(
    ip4.map((it) => ({ version: "4", ...it })),
    ip6.map((it) => ({ version: "6", ...it })),
  ),
  { maxLength: 3 },
);
const result040 = fc.record({ interfaces, ips: versionedIps, routes: routes({}), dns }, { requiredKeys: [] });
const result100 = fc.record(
  { interfaces, ips: fc.array(fc.oneof(ip4, ip6), { maxLength: 3 }), routes: routes(more), dns },
  { requiredKeys: [] },
);

function shapeOf(version: string): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  if (version.startsWith("0.1") || version.startsWith("0.2")) return result020;
  return version.startsWith("0") ? result040 : result100;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value without empty lists and objects: Go prints `dns: {}` for some versions, and an unchanged result has `[]`. */
function withoutEmptyMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyMembers);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmptyMembers(member)] as const);
  return Object.fromEntries(
    members.filter(
      ([, member]) => !(Array.isArray(member) && member.length === 0) && !(isRecord(member) && Object.keys(member).length === 0),
    ),
  );
}

/** Plexus' conversion of a result's text, parsed; or "refused". */
function plexusConversion(text: string, target: string): unknown {
  const read = readResult(text, "0.1.0");
  const converted = read.ok ? convertResult(read.value, target) : read;
  return converted.ok ? withoutEmptyMembers(JSON.parse(converted.value.text)) : "refused";
}

describe.skipIf(missing("values compared with libcni", missingOracle))("values compared with libcni", () => {
  test.each([
    ["L-01, L-02: container IDs", "VALIDATE-CONTAINER-ID", checkContainerId],
    ["L-01, L-02: network names", "VALIDATE-NETWORK-NAME", checkNetworkName],
    ["L-03: interface names", "VALIDATE-INTERFACE-NAME", checkAttachedInterfaceName],
  ] as const)("%s are accepted, or refused with libcni's code, in 800 samples", (_, operation, check) => {
    // An environment variable cannot contain NUL; Go's JSON reader replaces lone surrogates.
    const values = [...awkward, ...samples(someName, 800)].filter((value) => !value.includes("\0") && value.isWellFormed());
    const libcniAnswers = ask(values.map((value) => ({ do: operation, value })));
    expect(values.map((value) => [value, codeOf(check(value))])).toEqual(
      values.map((value, i) => [value, libcniCode(libcniAnswers[i])]),
    );
  });

  test("L-16: versions are parsed as libcni parses them", () => {
    const values = [
      "",
      "1",
      "1.0",
      "1.0.0",
      "0.3.1",
      "1.0.0.0",
      "a",
      "1.a",
      "1..0",
      ".",
      "1.",
      "01.1.0",
      "999999999.0.0",
      " 1.0.0",
      "1.0.0-rc1",
    ];
    const libcniAnswers = ask(values.map((value) => ({ do: "PARSE-VERSION", value })));
    const plexusResults = values.map((value) => parseVersion(value));
    expect(plexusResults.map((result, i) => [values[i], result.ok ? result.value : "refused"])).toEqual(
      libcniAnswers.map((answer, i) => [values[i], answer.error === undefined ? answer.result : "refused"]),
    );
  });

  test.each(SUPPORTED_VERSIONS)("L-51 to L-57: 60 results of %s convert to every version as in libcni", (version) => {
    const texts = samples(shapeOf(version), 60).map((result) => JSON.stringify({ cniVersion: version, ...result }));
    const cases = texts.flatMap((text) => [...SUPPORTED_VERSIONS, "", "0.5.0"].map((target) => ({ text, target })));
    const libcniAnswers = ask(cases.map(({ text, target }) => ({ do: "CONVERT", value: text, version: target })));
    const differing = cases.flatMap(({ text, target }, i) => {
      const plexusResult = plexusConversion(text, target);
      const answer = libcniAnswers[i];
      const libcniResult = answer?.error === undefined ? withoutEmptyMembers(answer?.result) : "refused";
      return JSON.stringify(sorted(plexusResult)) === JSON.stringify(sorted(libcniResult))
        ? []
        : [{ text, target, plexusResult, libcniResult }];
    });
    expect(differing).toEqual([]);
  });

  const lists: readonly (readonly [why: string, text: string])[] = [
    ["no name", '{"cniVersion":"1.0.0","plugins":[{"type":"a"}]}'],
    ["a name that is a number", '{"name":5,"plugins":[{"type":"a"}]}'],
    ["a version that is a number", '{"name":"n","cniVersion":1,"plugins":[{"type":"a"}]}'],
    ["no version", '{"name":"n","plugins":[{"type":"a"}]}'],
    ["an unknown version", '{"name":"n","cniVersion":"7.0.0","plugins":[{"type":"a"}]}'],
    ["cniVersions that is a string", '{"name":"n","cniVersions":"1.0.0","plugins":[{"type":"a"}]}'],
    ["cniVersions with a number", '{"name":"n","cniVersions":[1],"plugins":[{"type":"a"}]}'],
    ["cniVersions with a version in letters", '{"name":"n","cniVersions":["one"],"plugins":[{"type":"a"}]}'],
    ["cniVersions alone", '{"name":"n","cniVersions":["0.3.0","1.0.0"],"plugins":[{"type":"a"}]}'],
    [
      "cniVersions that are all too new",
      '{"name":"n","cniVersion":"0.4.0","cniVersions":["1.2.0","2.0.0"],"plugins":[{"type":"a"}]}',
    ],
    ["an empty cniVersions", '{"name":"n","cniVersion":"0.4.0","cniVersions":[],"plugins":[{"type":"a"}]}'],
    ["a short version among cniVersions", '{"name":"n","cniVersion":"0.4.0","cniVersions":["1.0"],"plugins":[{"type":"a"}]}'],
    ["no plugins", '{"name":"n","cniVersion":"1.0.0","plugins":[]}'],
    ["plugins that is an object", '{"name":"n","cniVersion":"1.0.0","plugins":{}}'],
    ["a plugin that is a string", '{"name":"n","cniVersion":"1.0.0","plugins":["a"]}'],
    ["a plugin without type", '{"name":"n","cniVersion":"1.0.0","plugins":[{}]}'],
    ["a type that is a number", '{"name":"n","cniVersion":"1.0.0","plugins":[{"type":1}]}'],
    ["disableCheck of a number", '{"name":"n","cniVersion":"1.0.0","disableCheck":1,"plugins":[{"type":"a"}]}'],
    ["disableCheck of an unknown word", '{"name":"n","cniVersion":"1.0.0","disableCheck":"yes","plugins":[{"type":"a"}]}'],
    ["disableGC of TRUE", '{"name":"n","cniVersion":"1.0.0","disableGC":"TRUE","plugins":[{"type":"a"}]}'],
    [
      "loadOnlyInlinedPlugins of False",
      '{"name":"n","cniVersion":"1.0.0","loadOnlyInlinedPlugins":"False","plugins":[{"type":"a"}]}',
    ],
    ["loadOnlyInlinedPlugins without plugins", '{"name":"n","cniVersion":"1.0.0","loadOnlyInlinedPlugins":true}'],
    ["capabilities that is a list", '{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"a","capabilities":["mac"]}]}'],
    ["a capability that is a string", '{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"a","capabilities":{"mac":"true"}}]}'],
    ["ipam that is a string", '{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"a","ipam":"x"}]}'],
    ["an ipam.type that is a number", '{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"a","ipam":{"type":1}}]}'],
    ["a list that is an array", "[]"],
    ["truncated JSON", '{"name":"n"'],
  ];

  test.each(lists)("L-15 to L-18: libcni and Plexus accept or refuse alike a list with %s", (_, text) => {
    const [libcniAnswers] = ask([{ do: "LOAD", list: text }]);
    const plexusList = parseNetworkList(text);
    const plexusSummary = plexusList.ok
      ? {
          name: plexusList.value.name,
          cniVersion: plexusList.value.cniVersion,
          disableCheck: plexusList.value.disableCheck,
          disableGC: plexusList.value.disableGC,
          loadOnlyInlinedPlugins: plexusList.value.loadOnlyInlinedPlugins,
          types: plexusList.value.plugins.map((plugin) => plugin.type),
        }
      : "refused";
    expect(plexusSummary).toEqual(libcniAnswers?.error === undefined ? described(libcniAnswers?.result) : "refused");
  });

  test("L-24: a single configuration becomes the same list as in libcni", () => {
    const text = '{"cniVersion":"0.4.0","name":"single","type":"bridge","ipam":{"type":"host-local"}}';
    const [libcniAnswers] = ask([{ do: "LOAD", conf: text }]);
    const plugin = parsePluginConf(text, "configuration");
    const plexusList = plugin.ok ? listOfOne(plugin.value) : plugin;
    expect(plexusList.ok && JSON.parse(plexusList.value.text)).toEqual(
      isRecord(libcniAnswers?.result) && JSON.parse(String(libcniAnswers.result["bytes"])),
    );
  });
});

function described(result: unknown): unknown {
  if (!isRecord(result)) return result;
  const { bytes: _, plugins, ...rest } = result;
  return { ...rest, types: Array.isArray(plugins) ? plugins.filter(isRecord).map((plugin) => plugin["type"]) : [] };
}

/** The value with the members of all objects sorted by key. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, sorted(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
