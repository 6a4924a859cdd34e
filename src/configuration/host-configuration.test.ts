import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHostConfiguration } from "./host-configuration.ts";
import { hostConfigurationSchema } from "./schema.ts";

const base = { cniVersion: "1.0.0", name: "cluster", type: "plexus" };
const delegates = [{ type: "bridge" }];

function message(value: unknown): string {
  const read = readHostConfiguration(value);
  return read.ok ? "accepted" : `${read.fault.code} ${read.fault.msg}`;
}

describe("the host configuration", () => {
  test("fills in every default", () => {
    const read = readHostConfiguration({ ...base, delegates });
    expect(read.ok && read.value).toMatchObject({
      cniDir: "/var/lib/cni/plexus",
      confDir: "/etc/cni/multus/net.d",
      runDir: "/run/plexus",
      stepTimeoutMs: 60_000,
      profile: "compat",
      wasm: { prefer: false, limits: {}, grants: {} },
    });
  });

  test.each([
    [{ ...base }, "delegates"],
    [{ ...base, delegates: [] }, "delegates"],
    [{ ...base, delegates: [5] }, "delegates.0"],
    [{ ...base, delegates, clusterNetwork: "x" }, "clusterNetwork"],
    [{ ...base, delegates, cniDir: "relative" }, "cniDir"],
    [{ ...base, delegates, manifests: 5 }, "manifests"],
    [{ ...base, delegates, stepTimeoutMs: 0 }, "stepTimeoutMs"],
    [{ ...base, delegates, stepTimeoutMs: 1.5 }, "stepTimeoutMs"],
    [{ ...base, delegates, profile: "loose" }, "profile"],
    [{ ...base, delegates, wasm: { isolation: "none" } }, "wasm.isolation"],
    [{ ...base, delegates, wasm: { limits: { timeMs: 0 } } }, "wasm.limits.timeMs"],
    [{ ...base, delegates, wasm: { grants: { "*": { leases: { directories: ["../x"] } } } } }, "directories"],
    [{ type: "plexus", delegates }, "name: is missing"],
    [[], "configuration"],
    [null, "configuration"],
  ])("%j is refused, naming %s", (value, field) => {
    expect(message(value)).toMatch(/^7 /);
    expect(message(value)).toContain(field);
  });

  test.each([
    [{ ...base, delgates: delegates }, "delgates: no such key; did you mean delegates?"],
    [{ ...base, delegates, wasm: { limits: { timems: 5 } } }, "wasm.limits.timems: no such key; did you mean timeMs?"],
    [{ ...base, delegates, wasm: { grants: { x: { lease: {} } } } }, "wasm.grants.x.lease: no such key; did you mean leases?"],
    [{ ...base, delegates, wasm: { grants: { x: { network: {} } } } }, "valid ones: log, leases, resolver"],
  ])("E-8: a mistyped key names the nearest valid one, or all: %j", (value, text) => {
    expect(message(value)).toContain(text);
  });

  test("a runDir below which no socket could be named, or that CNI_PATH would take for two, is refused", () => {
    for (const runDir of [`/${"r".repeat(84)}`, "/run/a:b"]) {
      expect(message({ ...base, delegates, runDir })).toMatch(/runDir: must be an absolute path of at most 84/);
    }
  });

  test("A-04: keys of the prototype are unknown keys like others", () => {
    expect(message(JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"constructor":{}}`))).toContain("constructor");
    const polluted: unknown = JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"__proto__":{"manifests":"/x"}}`);
    const read = readHostConfiguration(polluted);
    expect(read.ok ? read.value.manifests : undefined).toBeUndefined();
  });

  test("a null or wrongly typed value of every key is refused exactly where the schema refuses it", () => {
    const keys = ["name", "cniVersion", "clusterNetwork", "delegates", "confDir", "cniDir", "runDir", "manifests", "trace"];
    const values = [
      null,
      "",
      "x",
      "/x",
      "/a b",
      "/a:b",
      `/${"x".repeat(83)}`,
      `/${"x".repeat(84)}`,
      0,
      1,
      1.5,
      300_000,
      true,
      [],
      [{}],
      ["/x"],
      {},
      { limits: { timeMs: 5 } },
    ];
    const known = [...keys, "stepTimeoutMs", "profile", "wasm", "type", "unknown"];
    for (const key of known) {
      for (const value of values) {
        for (const network of [{ delegates }, { clusterNetwork: "x" }]) {
          const configuration = { ...base, ...network, [key]: value };
          expectAgreement(configuration);
        }
      }
    }
  });

  test("reader and schema agree on generated wasm sections", () => {
    const scalar = fc.constantFrom<unknown>(
      undefined,
      null,
      true,
      1,
      0,
      2.5,
      100_000,
      "process",
      "/x",
      "x",
      ["/x"],
      ["x"],
      [1],
      {},
    );
    const section = fc.record(
      {
        prefer: scalar,
        isolation: scalar,
        limits: fc.record({ timeMs: scalar, memoryMiB: scalar, logBytes: scalar }, { requiredKeys: [] }),
        grants: fc.dictionary(
          fc.constantFrom("a", "b"),
          fc.record(
            { log: scalar, leases: fc.record({ directories: scalar }), resolver: scalar, typo: scalar },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(section, (wasm) => {
        const text = JSON.stringify({ ...base, delegates, wasm });
        expectAgreement(JSON.parse(text));
      }),
      { numRuns: 400 },
    );
  });
});

function expectAgreement(configuration: unknown): void {
  const read = readHostConfiguration(configuration);
  const bySchema = hostConfigurationSchema.safeParse(configuration).success;
  expect({ configuration, ok: read.ok }).toEqual({ configuration, ok: bySchema });
}
