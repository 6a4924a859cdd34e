// Every valid component has the same answers, logs and capability calls in Plexus' runner and in jco's transpiled code.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { array, assert, constantFrom, integer, nat, option, property, record, string } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { AttachmentRequest, GcRequest, StatusRequest } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { abiVersions, capabilitiesOf } from "../../../../host/sandbox/abi/versions.ts";
import { Admission } from "../../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../../host/sandbox/in-process.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import { CompiledComponents } from "../../../../host/sandbox/compile.ts";
import { callGuest } from "../../../../host/sandbox/linker/call.ts";
import { callCapability } from "../../../../host/sandbox/in-process.ts";
import type { SyncImports, Verb } from "../../../../host/sandbox/runner.ts";
import { replacedPlugins } from "../../../../src/cni/reference-plugins.ts";
import { plainRequests, recordingImports } from "../requests.ts";
import { testSeed } from "../../../lab/random-from.ts";
import { buildWat } from "../wat.ts";
import { buildQuickJs, buildRust } from "./build.ts";
import { translate } from "./jco-runner.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };
const granted = Object.values(abiVersions).flatMap(capabilitiesOf);
const verbs: readonly Verb[] = ["add", "del", "check", "gc", "status"];

// Strings that are difficult in UTF-8, including lone surrogates, which both sides must convert in the same way. They have no leading byte
// order mark, because jco drops it although the canonical ABI has no such rule.
const text = string({ unit: "binary", maxLength: 12 }).map((value) => value.replace(/^\uFEFF+/, ""));
const any = constantFrom("", "mark\uFEFF", "\uD800", "a\uDC00b", "𝄞", "\0", "x".repeat(3000));
const word = array(constantFrom("a", "/", "é"), { maxLength: 3 }).map((parts) => parts.join(""));
const anyText = option(text, { nil: undefined }).chain((value) => (value === undefined ? any : constantFrom(value)));
const maybe = option(anyText, { nil: undefined });
const u32 = option(constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff), { nil: undefined });
const s32 = option(integer({ min: -0x8000_0000, max: 0x7fff_ffff }), { nil: undefined });

const success = record({
  interfaces: array(record({ name: anyText, mac: maybe, mtu: u32, sandbox: maybe, socketPath: maybe, pciId: maybe }), {
    maxLength: 3,
  }),
  ips: array(record({ address: anyText, gateway: maybe, interface: s32 }), { maxLength: 3 }),
  routes: array(record({ dst: anyText, gw: maybe, mtu: u32, advmss: u32, priority: u32, table: u32, scope: u32 }), {
    maxLength: 3,
  }),
  dns: option(
    record({ nameservers: array(anyText, { maxLength: 2 }), domain: maybe, search: array(word), options: array(word) }),
    { nil: undefined },
  ),
});
const network = record({ cniVersion: word, name: constantFrom("net", "fail", "fail-ü", ""), config: anyText });
const attachment = record({
  containerId: anyText,
  netns: maybe,
  ifname: word,
  args: array(record({ key: anyText, value: anyText }), { maxLength: 3 }),
  pod: option(record({ namespace: word, name: anyText, uid: maybe }), { nil: undefined }),
});
const terms = record({ remainingMs: constantFrom(0, 15_000, 0xffff_ffff), granted: array(word, { maxLength: 2 }) });
const attachmentRequest = record({ call: terms, network, attachment, prevResult: option(success, { nil: undefined }) });
const gcRequest = record({
  call: terms,
  network,
  valid: array(record({ containerId: anyText, ifname: anyText }), { maxLength: 4 }),
});

type Requests = { readonly [V in Verb]: AttachmentRequest | GcRequest | StatusRequest };

interface Pair {
  readonly plexus: (verb: Verb, request: unknown, imports: SyncImports) => unknown;
  readonly oracle: Awaited<ReturnType<typeof translate>>;
}

async function pairOf(name: string, bytes: Uint8Array): Promise<Pair> {
  const admitted = new Admission().admit(bytes, { granted, limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  const callable = new CompiledComponents().add(admitted.value);
  const plexus: Pair["plexus"] = (verb, request, imports) => {
    const outcome = callGuest(callable, { verb, request, limits, deadlineMs: 60_000 }, (...call) =>
      callCapability(imports, ...call),
    );
    if (outcome.kind === "broken") throw new Error(outcome.message);
    return outcome.answer;
  };
  return { plexus, oracle: await translate(name, bytes) };
}

function agree({ plexus, oracle }: Pair, verb: Verb, request: unknown, answering?: () => Partial<SyncImports>): true {
  const plexusImports = recordingImports();
  const oracleImports = recordingImports();
  const overrides = answering?.() ?? {};
  const answer = plexus(verb, request, { ...plexusImports.imports, ...overrides });
  const expected = oracle(verb, request, { ...oracleImports.imports, ...overrides });
  expect(answer).toEqual(expected);
  expect(plexusImports.calls).toEqual(oracleImports.calls);
  return true;
}

function agreeOnEverything(pair: Pair, runs: number): true {
  assert(
    property(attachmentRequest, gcRequest, nat(4), (request, gc, which) => {
      const requests: Requests = {
        add: request,
        del: request,
        check: request,
        gc,
        status: { call: request.call, network: request.network },
      };
      const verb = verbs[which] ?? "add";
      return agree(pair, verb, requests[verb]);
    }),
    { seed: testSeed("components in jco"), numRuns: runs },
  );
  return true;
}

describe("jco's transpiled code and Plexus' runner agree", () => {
  it.each(["good", "good-logger", "good-leases"])("on %s, made from WAT", async (name) => {
    const pair = await pairOf(name, await buildWat(name));
    for (const verb of verbs) expect(agree(pair, verb, plainRequests[verb])).toBe(true);
  });

  describe("on JavaScript in QuickJS", () => {
    let pair: Pair;
    let bytes: Uint8Array;
    beforeAll(async () => {
      bytes = await buildQuickJs();
      pair = await pairOf("echo-js", bytes);
    });

    it("for every record of the ABI", () => {
      expect(agreeOnEverything(pair, 80)).toBe(true);
    });

    it("when a capability answers none or an error", () => {
      const failing = { err: { code: 7, msg: "ünlucky", details: undefined } };
      const leases = recordingImports().imports.leases;
      if (leases === undefined) throw new Error("no leases");
      expect(
        agree(pair, "add", plainRequests.add, () => ({ leases: { ...leases, reserveNext: () => ({ ok: undefined }) } })),
      ).toBe(true);
      expect(agree(pair, "add", plainRequests.add, () => ({ leases: { ...leases, reserve: () => failing } }))).toBe(true);
      expect(agree(pair, "del", plainRequests.del, () => ({ leases: { ...leases, release: () => failing } }))).toBe(true);
    });

    it("and the component runs within the default limits, without grants for its unused WASI", async () => {
      const admitted = new Admission().admit(bytes, { granted, limits: defaultLimits });
      if (!admitted.ok) throw new Error(admitted.fault.msg);
      const call = { component: admitted.value, verb: "add", request: plainRequests.add, limits, deadlineMs: 60_000 } as const;
      expect(new InProcessRunner().callNow(call, recordingImports().imports).ok).toBe(true);
      expect(admitted.value.imports.filter((name) => name.startsWith("wasi:"))).toEqual([]);
    });
  });

  it("on Rust with wit-bindgen", { timeout: 300_000 }, async ({ skip }) => {
    const built = await buildRust();
    if ("skipped" in built) return skip(built.skipped);
    expect(agreeOnEverything(await pairOf("echo-rust", built), 150)).toBe(true);
  });

  // A component of two names counts once.
  const copies = new Set(Object.values(replacedPlugins).map((name) => `${name}.wasm`));
  const built = existsSync("dist/delegates") ? readdirSync("dist/delegates") : [];
  const delegates = built.filter((file) => file.endsWith(".wasm") && !copies.has(file));
  it.skipIf(delegates.length === 0)("on every built delegate of this repository (npm run build builds them)", async () => {
    for (const file of delegates) {
      const pair = await pairOf(file.slice(0, -5), readFileSync(`dist/delegates/${file}`));
      for (const verb of verbs) expect(agree(pair, verb, plainRequests[verb])).toBe(true);
      const ranges = '{"type":"x","ipam":{"type":"x","ranges":[[{"subnet":"10.1.0.0/24"}]]}}';
      const prevResult = {
        interfaces: [{ name: "eth0" }],
        ips: [{ address: "10.1.0.2/24" }],
        routes: [{ dst: "0.0.0.0/0" }],
        dns: undefined,
      };
      const add = { ...plainRequests.add, network: { ...plainRequests.add.network, config: ranges } };
      expect(agree(pair, "add", add)).toBe(true);
      expect(agree(pair, "add", { ...add, prevResult })).toBe(true);
    }
  });
});
