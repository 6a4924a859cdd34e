// Steps that use a pool of the cluster, and the refusals of others.

import { describe, expect, test } from "vitest";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { DelegateGrants } from "../../../src/configuration/keys/grant-keys.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { DryRun } from "../../capabilities/dry/dry-run.ts";
import type { PoolSource } from "../../capabilities/leases/pool-source.ts";
import type { Step } from "../../capabilities/step.ts";
import type { StepDetail } from "../../capabilities/step-detail.ts";
import { withPool } from "./pool-step.ts";

const source: PoolSource = {
  root: "/pools",
  leases: () => Promise.reject(new Error("not bound here")),
  complete: async (name, configuration, user) =>
    ok(`${configuration} completed by ${name}${user === "main" ? " with probes" : ""}`),
};
const granted: DelegateGrants = { leases: { pools: ["stor*"] } };

function noPlugin(): Promise<never> {
  return Promise.reject(new Error("no plugin"));
}

function stepOf(verb: ChainStep["verb"], ipam: object, more: Partial<Step> = {}): Step {
  const step = { verb, stdin: JSON.stringify({ ipam }), plugin: { type: "ipam" }, env: [] } as unknown as ChainStep;
  const place = { origin: "chain", network: "pods", ifname: "eth0", callers: [], timeoutMs: 1, maxMs: 1 } as const;
  return { step, ...place, grants: granted, runDelegated: noPlugin, ...more };
}

const withSource = (running: Step, capabilities = ["leases"]): Promise<Result<Step>> =>
  withPool({ pools: async () => source }, running, capabilities);

describe("a step", () => {
  test("that names a granted pool gets it, with the completed configuration, which the chain trace records", async () => {
    const told: StepDetail[] = [];
    const pooled = await withSource(stepOf("ADD", { pool: "storage" }, { tell: (detail) => void told.push(detail) }));
    const stdin = '{"ipam":{"pool":"storage"}} completed by storage';
    expect(pooled).toMatchObject({ ok: true, value: { pool: { name: "storage" }, step: { stdin } } });
    expect(told).toEqual([{ what: "configuration-completed", stdin }]);
  });

  test.each([
    ["with the grant", ["announce"], []],
    ["without it, so that the component refuses the setting", ["links"], ["announce"]],
  ])("of a main plugin that can ask the wire gets the pool's conflictDetection: %s", async (_, capabilities, ungranted) => {
    const running = stepOf("ADD", { pool: "storage" });
    const pooled = await withPool({ pools: async () => source }, running, capabilities, ungranted);
    const stdin = '{"ipam":{"pool":"storage"}} completed by storage with probes';
    expect(pooled).toEqual({ ok: true, value: { ...running, step: { ...running.step, stdin } } });
    const removal = stepOf("DEL", { pool: "storage" });
    expect(await withPool({ pools: async () => source }, removal, capabilities, ungranted)).toEqual(ok(removal));
  });

  test.each([
    ["names no pool", stepOf("ADD", { type: "host-local" }), ["leases"]],
    ["is of a component without leases", stepOf("ADD", { pool: "storage" }), ["links"]],
  ])("that %s stays as it is", async (_, running, capabilities) => {
    expect(await withSource(running, capabilities)).toEqual(ok(running));
  });

  test.each(["ADD", "STATUS"] as const)("of %s needs the grant", async (verb) => {
    const refused = await withSource(stepOf(verb, { pool: "other" }));
    expect(refused).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("wasm.grants.ipam.leases.pools has stor*") },
    });
    expect(refused).toMatchObject({ fault: { code: verb === "STATUS" ? 50 : 7 } });
  });

  test.each(["DEL", "GC"] as const)("of %s needs neither grant nor API, and passes over a malformed name", async (verb) => {
    const pooled = await withSource(stepOf(verb, { pool: "other" }));
    expect(pooled).toMatchObject({ ok: true, value: { pool: { name: "other" }, step: { stdin: '{"ipam":{"pool":"other"}}' } } });
    const malformed = stepOf(verb, { pool: "../x" });
    expect(await withSource(malformed)).toEqual(ok(malformed));
  });

  test("of a shadow is refused, and so is one of a component that a runtime calls itself", async () => {
    const shadow = await withSource(stepOf("ADD", { pool: "storage" }, { dry: new DryRun(undefined) }));
    expect(shadow).toMatchObject({ ok: false, fault: { kind: "SHADOW_UNSUPPORTED" } });
    const bare = await withPool({ pools: undefined }, stepOf("ADD", { pool: "storage" }), ["leases"]);
    expect(bare).toMatchObject({ ok: false, fault: { kind: "POOL_UNAVAILABLE" } });
  });

  test("of a replay stays as it was recorded", async () => {
    const running = stepOf("ADD", { pool: "storage" });
    expect(await withPool({ pools: undefined, bindRecorded: () => ({}) }, running, ["leases"])).toEqual(ok(running));
  });
});
