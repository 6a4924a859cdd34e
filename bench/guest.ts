// guest-LANGUAGE: a warm ADD of the kit's template in each language, on a new instance in this process, against the same in AssemblyScript.

import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentAbi } from "../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../delegates/sdk/build/build-delegate.ts";
import { goPackagePath, type LanguageId } from "../delegates/sdk/build/language.ts";
import { writeScaffold } from "../delegates/sdk/build/scaffold.ts";
import { prepared, type PreparedComponent } from "../delegates/sdk/component/run.ts";
import { readVectors, type Vector } from "../delegates/sdk/testing/vector.ts";
import { limitsOf } from "../host/sandbox/limits.ts";
import { pythonEnvironment } from "../test/lab/python/toolchain.ts";
import { go } from "../test/lab/requires.ts";
import { cargoEnvironment } from "../test/lab/rust/toolchain.ts";
import { writeGoModule } from "../scripts/write-go-module.ts";
import { type Benchmark, inTurns, quantile, timed } from "./measure.ts";

/** A language, or the second interpreter of JavaScript. */
export type GuestId = LanguageId | "starlingmonkey";

/** The figures of one language. */
export interface GuestFigures {
  readonly bytes: number;
  /** Milliseconds of admission, compilation and the first call: the lower decile. */
  readonly coldMs: number;
  /** Milliseconds of a later call on a new instance: the lower decile. */
  readonly warmMs: number;
  /** Bytes of linear memory after a call. */
  readonly memoryBytes: number;
}

interface Guest {
  readonly component: PreparedComponent;
  readonly bytes: Uint8Array;
  readonly vector: Vector;
}

/** The limits of a node with the settings that Python needs. They do not change the time of a smaller component. */
const limits = limitsOf({ componentMiB: 20, coreInstances: 48 });

/** The other load of a machine lengthens most of the calls, and the longer calls more. */
const lowerDecile = 0.1;

/** The figures of each template, sampled in turns. */
export async function figuresOf(ids: readonly GuestId[]): Promise<ReadonlyMap<GuestId, GuestFigures>> {
  const guests: (Guest & { readonly id: GuestId; readonly cold: number[]; readonly warm: number[] })[] = [];
  for (const id of ids) guests.push({ ...(await guestOf(id)), id, cold: [], warm: [] });
  const rounds = 25;
  for (let round = 0; round < rounds; round += 1) {
    for (const { bytes, vector, component, cold, warm } of guests) {
      cold.push(coldCall(bytes, vector).ms);
      for (let call = 0; call < 10; call += 1) warm.push(millisecondsOf(() => called(component, vector)));
    }
  }
  return new Map(
    guests.map(({ id, bytes, component, vector, cold, warm }) => [
      id,
      {
        bytes: bytes.length,
        coldMs: quantile(cold, lowerDecile),
        warmMs: quantile(warm, lowerDecile),
        memoryBytes: called(component, vector),
      },
    ]),
  );
}

/** Admits and compiles a component, and calls it once. */
function coldCall(bytes: Uint8Array, vector: Vector): { readonly component: PreparedComponent; readonly ms: number } {
  const started = performance.now();
  const component = prepared({ type: "greeter", bytes, granted: undefined, limits });
  if (!component.ok) throw new Error(component.fault.msg);
  called(component.value, vector);
  return { component: component.value, ms: performance.now() - started };
}

function millisecondsOf(act: () => void): number {
  const started = performance.now();
  act();
  return performance.now() - started;
}

/** Builds a template, and calls it once. */
async function guestOf(id: GuestId): Promise<Guest> {
  const dir = mkdtempSync(join(tmpdir(), `plexus-guest-${id}-`));
  const language = id === "starlingmonkey" ? "js" : id;
  const interpreter = id === "starlingmonkey" ? "starlingmonkey" : "quickjs";
  try {
    await writeScaffold(dir, { name: "greeter", capabilities: [], language, home: { kind: "repository", sdk: "0.1.0" } });
    const wit = join(dir, "node_modules/@plexus-cni/sdk/wit");
    mkdirSync(wit, { recursive: true });
    cpSync(join("wit", currentAbi), join(wit, currentAbi), { recursive: true });
    writeGoModule(join(dir, goPackagePath(currentAbi)), currentAbi);
    const { bytes } = await buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm"), interpreter });
    const [vector] = await readVectors(join(dir, "vectors"));
    if (vector === undefined) throw new Error("the template has no vector");
    return { component: coldCall(bytes, vector).component, bytes, vector };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Calls ADD, and answers the guest's bytes of linear memory. */
function called(component: PreparedComponent, vector: Vector): number {
  const run = component.call(vector);
  if (!run.succeeded) throw new Error(run.stdout);
  return run.usage?.memoryBytes ?? 0;
}

function warmCall({ component, vector }: Guest): () => Promise<number> {
  return timed(() => {
    called(component, vector);
    return Promise.resolve();
  });
}

function guestRow(language: LanguageId, environment: () => Readonly<Record<string, string>> | string): Benchmark {
  return {
    id: `guest-${language}`,
    title: `warm ADD of the template in ${language} / in AssemblyScript`,
    target: "comparison",
    async sample() {
      const variables = environment();
      if (typeof variables === "string") return variables;
      Object.assign(process.env, variables);
      const [subject, baseline] = [await guestOf(language), await guestOf("as")];
      return inTurns({ subject: warmCall(subject), baseline: warmCall(baseline), warmUp: 50, samples: 300 });
    },
  };
}

/** The rows `guest-…`. A language whose toolchain is missing has no figures. */
export const guestBenchmarks: readonly Benchmark[] = [
  guestRow("as", () => ({})),
  guestRow("js", () => ({})),
  guestRow("rust", () => {
    const found = cargoEnvironment();
    return "missing" in found ? found.missing : { ...found };
  }),
  guestRow("go", () => go() ?? {}),
  guestRow("python", () => {
    const found = pythonEnvironment();
    return "missing" in found ? found.missing : { ...found };
  }),
];
