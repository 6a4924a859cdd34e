// The Go packages that follow from the contract: every function of every capability, and every verb, passes random values of all its types in both
// directions. A delegate in Go decodes the arguments from its configuration, calls the function, and answers the result as JSON.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capabilitiesOf, currentAbi, readAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { goPackagePath } from "../../../delegates/sdk/build/language.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { arbitraryOf, crossed } from "../../../delegates/sdk/testing/arbitrary.ts";
import type { VerbTypes } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { CompiledComponents } from "../../../host/sandbox/compile.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { type Callable, callSuspendable } from "../../../host/sandbox/linker/call.ts";
import type { Verb } from "../../../host/sandbox/runner.ts";
import { writeGoModule } from "../../../scripts/write-go-module.ts";
import { goName } from "../../../wit/codegen/go/names.ts";
import { Layout } from "../../../wit/codegen/layout.ts";
import { camel } from "../../../wit/codegen/names.ts";
import type { TypeRef } from "../../../wit/model.ts";
import { go, missing } from "../../lab/requires.ts";
import { testSeed } from "../../lab/random-from.ts";
import { callerProgram, functionsOf } from "./go-caller.ts";

const abi = readAbi(currentAbi);
if (abi === null) throw new Error(`wit/${currentAbi} can't be read`);
const { model } = abi;
const layout = new Layout(model);
const capabilities = capabilitiesOf(currentAbi) ?? [];

const functions = functionsOf(model, capabilities);

/** A value as encoding/json writes it for the Go type. */
function goJson(type: TypeRef, value: unknown): unknown {
  const shape = layout.shape(type);
  const member = (name: string): unknown => Reflect.get(value as object, name);
  switch (shape.kind) {
    case "record":
      return Object.fromEntries(shape.fields.map(([name, field]) => [goName(name), goJson(field, member(camel(name)))]));
    case "enum":
      return shape.cases.indexOf(String(value));
    case "option":
      return value === undefined ? null : goJson(shape.inner, value);
    case "list": {
      const items = value as readonly unknown[];
      return shape.element === "u8"
        ? Buffer.from(items as number[]).toString("base64")
        : items.map((each) => goJson(shape.element, each));
    }
    case "variant": {
      const index = shape.cases.findIndex(([label]) => label === member("tag"));
      const payload = shape.cases[index]?.[1] ?? null;
      return { Case: index, Value: payload === null ? null : goJson(payload, member("val")) };
    }
    default:
      return value;
  }
}

/** Plexus' form of a random value: numbers in place of bigints, within the integers that JSON passes on. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(BigInt.asUintN(53, value));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return crossed(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

const valuesOf = (type: TypeRef): fc.Arbitrary<unknown> => arbitraryOf(model, type).map(plain);

type Host = (capability: string, func: string, args: readonly unknown[]) => unknown;

/** The host of a verb that calls nothing. */
const unused: Host = (capability, func) => {
  throw new Error(`${capability}.${func} was called`);
};

/** The JSON of a fault with the code 100. */
function saidBy(answer: unknown): unknown {
  const { err } = answer as { readonly err?: { readonly code: number; readonly msg: string } };
  if (err?.code !== 100) throw new Error(`the delegate answered ${JSON.stringify(answer)}`);
  return JSON.parse(err.msg);
}

describe.skipIf(missing("the Go packages of the contract", go))("the Go packages of the contract", () => {
  let dir: string;
  let component: Callable;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "plexus-go-"));
    const home = { kind: "repository", sdk: "0.1.0" } as const;
    await writeScaffold(dir, {
      name: "caller",
      capabilities: capabilities.filter((each) => each !== "log"),
      language: "go",
      home,
    });
    writeGoModule(join(dir, goPackagePath(currentAbi)), currentAbi);
    writeFileSync(join(dir, "main.go"), callerProgram(model, capabilities));
    const { bytes, warnings } = await buildDelegate({ dir, outFile: join(dir, "build/caller.wasm") });
    if (warnings.length > 0) throw new Error(warnings.join("\n"));
    const admitted = new Admission().admit(bytes, { granted: capabilities, limits: defaultLimits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    component = new CompiledComponents().add(admitted.value);
  }, 600_000);

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const answerOf = async (verb: Verb, request: unknown, host: Host = unused): Promise<unknown> => {
    const call = { verb, request: request as VerbTypes[Verb]["request"], limits: defaultLimits, deadlineMs: 60_000 };
    const outcome = await callSuspendable(component, call, host).outcome;
    if (outcome.kind === "broken") throw new Error(`${outcome.message} ${JSON.stringify(outcome)}`);
    return outcome.answer;
  };
  const runs = { numRuns: 6, seed: testSeed("the Go packages of the contract") };
  const terms = { call: { remainingMs: 15_000, granted: [] }, attachment: { containerId: "c1", ifname: "eth0", args: [] } };

  test.each(functions.map((each, index) => ({ ...each, index, title: `${each.capability}.${each.name}` })))(
    "$title passes its arguments and answers",
    { timeout: 120_000 },
    async ({ capability, name, definition, index }) => {
      const params = definition.params.map(([, type]) => type);
      const shape = definition.result === null ? undefined : layout.shape(definition.result);
      const [ok, err] = shape?.kind === "result" ? [shape.ok, shape.err] : [null, null];
      const outcomes = fc.oneof(
        (ok === null ? fc.constant(undefined) : valuesOf(ok)).map((value) => ({ ok: value })),
        ...(err === null ? [] : [valuesOf(err).map((value) => ({ err: value }))]),
      );
      await fc.assert(
        fc.asyncProperty(fc.tuple(...params.map(valuesOf)), outcomes, async (args, outcome) => {
          const received: unknown[] = [];
          const host: Host = (...call) => {
            received.push(call);
            return definition.result === null ? undefined : outcome;
          };
          const config = { Function: index, Args: args.map((each, at) => goJson(params[at] ?? "bool", each)) };
          const network = { cniVersion: "1.1.0", name: "call", config: JSON.stringify(config) };
          const answer = saidBy(await answerOf("add", { ...terms, network }, host));
          // The log's line reaches the host as it is written, without the call of a capability.
          const [called] = received as [readonly [string, string, readonly unknown[]]];
          expect(called.slice(0, 2)).toEqual([capability, camel(name)]);
          expect(plain(called[2])).toEqual(args);
          const expected =
            "err" in outcome && err !== null
              ? { err: goJson(err, outcome.err) }
              : { ok: ok === null || !("ok" in outcome) ? null : goJson(ok, outcome.ok) };
          expect(answer).toEqual(expected);
        }),
        runs,
      );
    },
  );

  const requestTypes = {
    add: "attachment-request",
    del: "attachment-request",
    check: "attachment-request",
    gc: "gc-request",
    status: "status-request",
  };
  test.each(Object.entries(requestTypes) as [Verb, string][])(
    "%s gets the whole request",
    { timeout: 120_000 },
    async (verb, name) => {
      const type = { ref: `types.${name}` };
      await fc.assert(
        fc.asyncProperty(valuesOf(type), async (request) => {
          expect(saidBy(await answerOf(verb, request))).toEqual(goJson(type, request));
        }),
        runs,
      );
    },
  );

  test("add answers a whole result", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(valuesOf({ ref: "types.success" }), async (prevResult) => {
        const network = { cniVersion: "1.1.0", name: "net", config: "pass" };
        expect(await answerOf("add", { ...terms, network, prevResult })).toEqual({ ok: prevResult });
      }),
      runs,
    );
  });
});
