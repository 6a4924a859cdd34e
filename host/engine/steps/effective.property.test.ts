// Properties of grants: a component is bound to exactly the capabilities that it imports, declares and is granted, and a capability
// does nothing beyond its grant.

import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { testDelegate } from "../../../test/lab/delegates/built.ts";
import { binaryOf, sectionsOf, withSection } from "../../../test/hostile/components/sections.ts";
import { buildWat } from "../../../test/hostile/components/wat.ts";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { grantNames } from "../../../src/configuration/keys/grant-keys.ts";
import { defaultWasm } from "../../../src/configuration/wasm-configuration.ts";
import { grantsOf } from "../../../src/configuration/definition-policy.ts";
import { delegationFor } from "../../capabilities/delegation/scope.ts";
import type { Shim } from "../../protocol/shim.ts";
import type { Setting } from "../../protocol/messages.ts";
import { runSync } from "../../capabilities/leases/testing/run-sync.ts";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import { abiVersions } from "../../sandbox/abi/versions.ts";
import { Admission } from "../../sandbox/admission/admit.ts";
import { defaultLimits } from "../../sandbox/limits.ts";
import { sysctlFor } from "../../capabilities/sysctl/scope.ts";
import { bindCapabilities } from "../../capabilities/bind.ts";
import { InProcessRunner } from "../../sandbox/in-process.ts";
import type { Step } from "../../capabilities/step.ts";
import { namedByFile } from "../../sandbox/component-file.ts";
import { ComponentDemands } from "../../sandbox/provenance/component-demands.ts";
import { systemClock } from "../../system/clock.ts";
import { runDelegateStep } from "./delegate-step.ts";

const step: ChainStep = {
  index: 0,
  plugin: { type: "any", name: "", ipamType: undefined, capabilities: [], document: documentOf("{}") },
  verb: "ADD",
  stdin: '{"cniVersion":"1.0.0","name":"net","type":"any"}',
  env: [["CNI_NETNS", "/run/netns/none"]],
  prevResult: undefined,
  attachment: { containerId: "one", ifname: "eth0" },
};

function documentOf(text: string): ChainStep["plugin"]["document"] {
  return { text, members: new Map(), open: 1, parsed: {} };
}

/** A shim for tests that need none: every use fails the test. */
const noShim: Shim = new Proxy(Object.create(null), {
  get: (_, name) => () => expect.fail(`the shim was asked for ${String(name)}`),
});

const host = {
  shim: noShim,
  clock: systemClock,
  runLeaseOperation: <T>(operation: Parameters<typeof runSync<T>>[0]): T => runSync(operation, lockSync),
  log: (): void => undefined,
};

/** Components with the capabilities that they import. */
const components: { readonly abi: string; readonly bytes: Uint8Array; readonly imports: readonly string[] }[] = [];
/** The capabilities that a component of one version may declare. */
const declarable = (abi: string): readonly string[] => grantNames.filter((name) => name in (abiVersions[abi]?.imports ?? {}));
const allNames = fc.subarray([...grantNames]);

beforeAll(async () => {
  components.push({ abi: "1.0.0", bytes: await buildWat("good"), imports: [] });
  components.push({ abi: "1.0.0", bytes: await buildWat("good-leases"), imports: ["leases"] });
  components.push({ abi: "1.0.0", bytes: readFileSync(await testDelegate("puppet")), imports: ["log", "delegation"] });
  components.push({ abi: "1.1.0", bytes: readFileSync(await testDelegate("intruder")), imports: grantNames });
});

function isDeclaration(content: Uint8Array): boolean {
  return Buffer.from(content.subarray(1, 16)).toString() === "plexus:delegate";
}

/** The component with a declaration of these capabilities. */
function declaring(
  { abi, bytes }: { readonly abi: string; readonly bytes: Uint8Array },
  names: readonly string[],
  optional: readonly string[] = [],
): Uint8Array {
  const kept = sectionsOf(bytes).filter(({ id, content }) => id !== 0 || !isDeclaration(content));
  const capabilities = Object.fromEntries(names.map((name) => [name, `wants ${name}`]));
  const base = { name: "any", abi, version: "1", about: "any", cniVersions: ["1.0.0"] };
  return withSection(binaryOf(bytes, kept), "plexus:delegate", Buffer.from(JSON.stringify({ ...base, capabilities, optional })));
}

interface Effective {
  readonly refused: string;
  /** Capabilities that the refusal names with their declared purpose. */
  readonly named: readonly string[];
  readonly bound: readonly string[];
}

const none = { abi: "1.0.0", bytes: new Uint8Array(0), imports: [] };

const admission = new Admission();

async function effectiveOf(bytes: Uint8Array, granted: readonly string[]): Promise<Effective> {
  const admitted = admission.admit(bytes, { granted, limits: defaultLimits });
  if (!admitted.ok) {
    const { kind, msg } = admitted.fault;
    return { refused: kind, named: grantNames.filter((name) => msg.includes(`${name} ("wants ${name}")`)), bound: [] };
  }
  const { capabilities } = admitted.value;
  const grants = Object.fromEntries(granted.map((name) => [name, {}]));
  const bound = await bindCapabilities(host, running(grants), capabilities);
  expect([...capabilities].toSorted()).toEqual(Object.keys(bound).toSorted());
  return { refused: "", named: [], bound: Object.keys(bound).toSorted() };
}

function running(grants: Step["grants"]): Step {
  const place = { origin: "chain", network: "net", ifname: "eth0", callers: [] } as const;
  return { step, ...place, grants, timeoutMs: 0, maxMs: 5000, runDelegated: noStep };
}

async function noStep(): Promise<never> {
  throw new Error("a step was run");
}

describe("E-7: effective capabilities", () => {
  it("E-7 a component is bound to its imports, which must be declared and granted; a refusal names each import without a grant", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(3), allNames, allNames, async (which, names, granted) => {
        const component = components[which] ?? none;
        const { abi, imports } = component;
        const declared = names.filter((name) => declarable(abi).includes(name));
        const undeclared = imports.filter((name) => !declared.includes(name));
        const ungranted = imports.filter((name) => !granted.includes(name));
        const refused = undeclared.length > 0 ? "COMPONENT_REFUSED" : ungranted.length > 0 ? "CAPABILITY_NOT_GRANTED" : "";
        expect(await effectiveOf(declaring(component, declared), granted)).toEqual({
          refused,
          named: refused === "CAPABILITY_NOT_GRANTED" ? ungranted : [],
          bound: refused === "" ? [...imports].toSorted() : [],
        });
      }),
      { numRuns: 300 },
    );
  });

  it("E-7 a component is loaded without the grants of optional capabilities, and is bound only to what is granted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(3), allNames, allNames, async (which, names, granted) => {
        const component = components[which] ?? none;
        const { abi, imports } = component;
        const optional = names.filter((name) => declarable(abi).includes(name));
        const missing = imports.filter((name) => !granted.includes(name) && !optional.includes(name));
        expect(await effectiveOf(declaring(component, declarable(abi), optional), granted)).toEqual({
          refused: missing.length > 0 ? "CAPABILITY_NOT_GRANTED" : "",
          named: missing,
          bound: missing.length > 0 ? [] : imports.filter((name) => granted.includes(name)).toSorted(),
        });
      }),
      { numRuns: 300 },
    );
  });

  it("E-7 a component without a grant does not run, and the fault names the configuration key for its grants", async () => {
    const bytes = components[3]?.bytes ?? new Uint8Array(0);
    const runner = new InProcessRunner();
    const shim: Shim = new Proxy(noShim, {
      get: (target, name) =>
        name === "read" ? async () => ({ kind: "content", errno: 0, content: bytes }) : Reflect.get(target, name),
    });
    const delegates = {
      ...host,
      shim,
      admission: new Admission(),
      componentNames: namedByFile,
      demands: new ComponentDemands(),
      runner,
    };
    await fc.assert(
      fc.asyncProperty(allNames, async (granted) => {
        fc.pre(granted.length < grantNames.length);
        const wasm = { ...defaultWasm, grants: { any: Object.fromEntries(granted.map((name) => [name, {}])) } };
        const file = { path: "/any.wasm", identity: "1" };
        const outcome = await runDelegateStep({ ...delegates, wasm }, running(grantsOf(wasm, "any")), file);
        expect(outcome).toMatchObject({
          ok: false,
          fault: { kind: "CAPABILITY_NOT_GRANTED", msg: expect.stringContaining('wasm.grants."any"') },
        });
      }),
      { numRuns: 30 },
    );
  });

  it("E-7 sysctl writes only keys that a granted pattern matches part by part", async () => {
    const part = fc.constantFrom("conf", "eth0", "IFNAME", "rp_filter", "*", "r*", "..", "");
    const path = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => ["net", ...parts].join("/"));
    let done = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 3 }),
        fc.array(path, { minLength: 1, maxLength: 3 }),
        async (patterns, keys) => {
          const read = readHostConfiguration({
            name: "n",
            type: "plexus",
            delegates: [{ type: "x" }],
            wasm: { grants: { any: { sysctl: { keys: patterns } } } },
          });
          // Reading the configuration refuses malformed patterns.
          const granted = read.ok ? (read.value.wasm.grants["any"]?.sysctl?.keys ?? []) : [];
          const written: Setting[] = [];
          const shim = {
            sysctl: async ({ settings }: { readonly settings: readonly Setting[] }) => {
              written.push(...settings);
              return { kind: "done" as const, errno: 0, sent: true, reply: Buffer.from(settings.map(() => "0\0").join("")) };
            },
          };
          const scope = {
            type: "any",
            verb: "ADD",
            attachment: { ifname: "eth0" },
            netns: "/run/netns/x",
            keys: granted,
          } as const;
          const answer = await sysctlFor(scope, shim).write(keys.map((key) => ({ key, value: "1" })));
          for (const { key } of written) expect(granted.some((pattern) => asRegularExpression(pattern).test(key))).toBe(true);
          expect(written.length).toBe("ok" in answer ? keys.length : 0);
          done += written.length;
        },
      ),
      { numRuns: 3000 },
    );
    expect(done).toBeGreaterThan(0);
  });

  it("E-7 delegation calls only plugins that a granted pattern matches, with the call's verb or, for ADD, with DEL", async () => {
    const type = fc.constantFrom("a", "ab", "host-local", "../a", "", "*", "a*", "h*l", "puppet", "any");
    const verb = fc.constantFrom("ADD" as const, "DEL" as const, "CHECK" as const, "GC" as const, "STATUS" as const);
    const func = fc.constantFrom("add" as const, "del" as const, "check" as const, "gc" as const, "status" as const);
    let done = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(type, { maxLength: 3 }), type, verb, func, async (plugins, called, callVerb, name) => {
        const ran: ChainStep[] = [];
        const run = async (next: ChainStep) => {
          ran.push(next);
          return { ok: true, stdout: "{}" } as const;
        };
        const call = { ...step, verb: callVerb, env: [["CNI_COMMAND", callVerb]] as const };
        const answer = await delegationFor({ step: call, plugins, callers: ["any"], run })[name](called, undefined);
        for (const { plugin, verb: delegatedVerb } of ran) {
          expect(plugins.some((pattern) => asRegularExpression(pattern).test(plugin.type))).toBe(true);
          expect(callVerb === "ADD" ? ["ADD", "DEL"] : [callVerb]).toContain(delegatedVerb);
          expect(plugin.type).not.toBe("any");
        }
        expect(ran.length).toBe("ok" in answer ? 1 : 0);
        done += ran.length;
      }),
      { numRuns: 2000 },
    );
    expect(done).toBeGreaterThan(0);
  });
});

/** A pattern as the documentation describes it: `*` matches anything but `/`, and `IFNAME` the interface's name. */
function asRegularExpression(pattern: string): RegExp {
  const parts = pattern
    .split("/")
    .map((part) => (part === "IFNAME" ? "eth0" : part.replaceAll(".", "\\.").replaceAll("*", "[^/]*")));
  return new RegExp(`^${parts.join("/")}$`);
}
