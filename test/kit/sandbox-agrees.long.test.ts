// The sandbox and the oracle give the same answers: to random requests whose capabilities answer at random, and to
// every vector of every delegate. delegates/*/vectors.test.ts compares the sandbox with the expected answers; a defect of the sandbox that changes both
// shows here only.

import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { TypeRef } from "../../wit/model.ts";
import { currentAbi, readAbi } from "../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { arbitraryOf, crossed } from "../../delegates/sdk/testing/arbitrary.ts";
import type { CapabilityFunctions, DelegateCall, RunDelegate } from "../../delegates/sdk/testing/records.ts";
import { runInJco } from "../../delegates/sdk/testing/run-in-jco.ts";
import { runInSandbox, runSuspended } from "../../delegates/sdk/testing/run-in-sandbox.ts";
import { answerOf } from "../../delegates/sdk/testing/run-vectors.ts";
import { readVectors } from "../../delegates/sdk/testing/vector.ts";

const abi = readAbi(currentAbi);
if (abi === null) throw new Error(`no ABI ${currentAbi}`);
const { model } = abi;

async function build(dir: string): Promise<Uint8Array> {
  const out = await mkdtemp(join(tmpdir(), "plexus-agree-"));
  try {
    return (await buildDelegate({ dir, outFile: join(out, "delegate.wasm") })).bytes;
  } finally {
    await rm(out, { recursive: true });
  }
}

/** An arbitrary of a type of the ABI. The cast is sound as far as the model is the ABI, which other tests hold. */
function typed<T>(type: TypeRef): fc.Arbitrary<T> {
  return arbitraryOf(model, type) as fc.Arbitrary<T>;
}

/** `{ok}` or `{err}`, as capabilities answer. */
function outcomeOf(ok: TypeRef | null): fc.Arbitrary<{ readonly ok: unknown } | { readonly err: unknown }> {
  const okValue = ok === null ? fc.constant(undefined) : arbitraryOf(model, ok);
  return fc.oneof(
    { weight: 3, arbitrary: okValue.map((value) => ({ ok: value })) },
    { weight: 1, arbitrary: arbitraryOf(model, { ref: "types.fault" }).map((err) => ({ err })) },
  );
}

const imported = ["leases", "resolver"].flatMap((iface) =>
  Object.entries(model.interfaces[iface]?.functions ?? {}).map(([name, fn]) => ({ iface, name, fn })),
);

/** The answer of each function in one call. */
const answers = fc.record(
  Object.fromEntries(
    imported.map(({ iface, name, fn }) => {
      const result = fn.result;
      const ok = result !== null && typeof result === "object" && "result" in result ? result.result.ok : null;
      return [`${iface}.${name}`, outcomeOf(ok)];
    }),
  ),
);

/** Capabilities with the given answers, which record their calls in `calls`. */
function scripted(answersOf: Record<string, unknown>, calls: unknown[]): CapabilityFunctions {
  const made: Record<string, Record<string, unknown>> = {
    log: { write: (...args: unknown[]) => void calls.push(["log", ...args]) },
    leases: {},
    resolver: {},
  };
  for (const { iface, name } of imported) {
    const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    Object.assign(made[iface] ?? {}, {
      [camel]: (...args: unknown[]) => {
        calls.push([camel, ...args]);
        return answersOf[`${iface}.${name}`];
      },
    });
  }
  return made as unknown as CapabilityFunctions;
}

/** A call with everything granted. */
const plainCall = { remainingMs: 15_000, granted: ["leases", "log", "resolver"] };

const attachmentVerbs = fc.constantFrom("add" as const, "del" as const, "check" as const);
const anyCall: fc.Arbitrary<DelegateCall> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ verb: attachmentVerbs, request: typed<never>({ ref: "types.attachment-request" }) }) },
  fc.record({ verb: fc.constant("gc" as const), request: typed<never>({ ref: "types.gc-request" }) }),
  fc.record({ verb: fc.constant("status" as const), request: typed<never>({ ref: "types.status-request" }) }),
);

// The sandbox grants what the request names: everything that the component imports, and names that do not exist.
const call = anyCall.map((made) => {
  const granted = [...plainCall.granted, ...made.request.call.granted];
  return { ...made, request: { ...made.request, call: { ...made.request.call, granted } } } as DelegateCall;
});

async function traceOf(
  run: RunDelegate,
  component: Uint8Array,
  request: DelegateCall,
  answersOf: Record<string, unknown>,
): Promise<unknown> {
  const calls: unknown[] = [];
  const outcome = await run(component, request, scripted(answersOf, calls));
  // JSON drops undefined members: the hosts differ between undefined and absent.
  return JSON.parse(JSON.stringify(crossed({ calls, outcome })));
}

test("random requests with random answers of capabilities have the same outcome in the sandbox, suspended or not, and in the oracle", async () => {
  const component = await build(fileURLToPath(new URL("../../delegates/sdk/testing/mirror/", import.meta.url)));
  await fc.assert(
    fc.asyncProperty(call, answers, async (request, answersOf) => {
      const inSandbox = await traceOf(runInSandbox, component, request, answersOf);
      expect(inSandbox).toEqual(await traceOf(runInJco, component, request, answersOf));
      expect(await traceOf(runSuspended, component, request, answersOf)).toEqual(inSandbox);
    }),
    { numRuns: 300 },
  );
});

test("64 KiB of text survive the sandbox, including a leading U+FEFF; lone surrogates are replaced", async () => {
  const component = await build(fileURLToPath(new URL("../../delegates/sdk/testing/mirror/", import.meta.url)));
  const quiet = scripted({ "leases.probe": { ok: undefined }, "leases.retain": { ok: 4_294_967_295 } }, []);
  for (const config of [`\ufeff${"a".repeat(65_536)}`, "中".repeat(21_845), "😀".repeat(16_384), `${"b".repeat(65_535)}\ud800`]) {
    const request = { call: plainCall, network: { cniVersion: "1.1.0", name: "net", config }, valid: [] };
    expect(await runInSandbox(component, { verb: "gc", request }, quiet)).toEqual({
      err: { code: 4_294_967_295, msg: config.toWellFormed() },
    });
  }
});

const delegates = fileURLToPath(new URL("../../delegates/", import.meta.url));
const withVectors = readdirSync(delegates).filter((name) => existsSync(join(delegates, name, "vectors")));

describe.each(withVectors)("%s", (name) => {
  let component: Uint8Array;
  beforeAll(async () => {
    component = await build(join(delegates, name));
  });

  test("every vector has the same answer in the sandbox, suspended or not, and in the oracle", async () => {
    const vectors = await readVectors(join(delegates, name, "vectors"));
    expect(vectors.length).toBeGreaterThan(0);
    for (const vector of vectors) {
      const inSandbox = await answerOf(vector, component, runInSandbox);
      expect({ [vector.name]: inSandbox }).toEqual({ [vector.name]: await answerOf(vector, component, runInJco) });
      expect({ [vector.name]: await answerOf(vector, component, runSuspended) }).toEqual({ [vector.name]: inSandbox });
    }
  });
});
