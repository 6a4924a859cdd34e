// Engines with a memory, an engine without one, and a stand-in for native host-local use one directory in turn. A store without memory
// runs the same operations in another directory. Their answers and leases must never differ.

import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { shortHash } from "../../system/ids.ts";
import { addressCount, leasesIn, networkOf, Store } from "./fixtures/stores.ts";
import { contentOf } from "./lease-file.ts";
import { LeaseMemory } from "./lease-memory.ts";

const containers = ["a", "bb", "container-c", "d"];
const container = fc.constantFrom(...containers);
const ifname = fc.constantFrom("eth0", "eth10");
const address = fc.integer({ min: 1, max: addressCount }).map((number) => `10.1.0.${number}`);

/** The operations of an engine. */
const operations = fc.oneof(
  { weight: 4, arbitrary: container.map((id) => (store: Store) => store.next(id)) },
  { weight: 4, arbitrary: container.map((id) => (store: Store) => store.release(id)) },
  fc.tuple(container, address).map(
    ([id, at]) =>
      (store: Store) =>
        store.reserve(id, at),
  ),
  container.map((id) => (store: Store) => store.held(id)),
  fc.subarray(containers).map((ids) => (store: Store) => store.retain(ids)),
  fc.constant((store: Store) => [store.count(), store.probe()]),
);

/** Changes by other programs: native host-local, an administrator, or a killed call of Plexus. */
const foreignChanges = fc.oneof(
  fc.tuple(container, ifname, address).map(([containerId, name, at]) => (directory: string) => {
    const path = join(directory, at);
    if (!existsSync(path)) writeFileSync(path, contentOf({ containerId, ifname: name }), { flag: "wx", mode: 0o600 });
  }),
  address.map((at) => (directory: string) => {
    if (existsSync(join(directory, at))) unlinkSync(join(directory, at));
  }),
  // Another owner's lease replaces the lease of the same name.
  fc.tuple(container, address).map(([containerId, at]) => (directory: string) => {
    rmSync(join(directory, at), { force: true });
    writeFileSync(join(directory, at), containerId);
  }),
  fc.tuple(container, address).map(([containerId, at]) => (directory: string) => {
    const owner = { containerId, ifname: "eth0" };
    const staged = join(directory, `.plexus-${shortHash(contentOf(owner))}`);
    rmSync(staged, { force: true });
    writeFileSync(staged, contentOf(owner), { mode: 0o600 });
    if (!existsSync(join(directory, at))) linkSync(staged, join(directory, at));
  }),
  fc.constant((directory: string) => rmSync(directory, { recursive: true })),
);

/** Changes of the recycled files, which must not change any answer. */
const recycledFileChanges = fc.constantFrom<(recycledFiles: string) => void>(
  (recycledFiles) => rmSync(recycledFiles, { recursive: true, force: true }),
  (recycledFiles) => {
    for (const name of existsSync(recycledFiles) ? readdirSync(recycledFiles) : []) rmSync(join(recycledFiles, name));
  },
  (recycledFiles) => {
    const [name] = existsSync(recycledFiles) ? readdirSync(recycledFiles) : [];
    if (name !== undefined) writeFileSync(join(recycledFiles, name), "x".repeat(5000));
  },
);

type Step =
  | { readonly engine: number; readonly ask: (store: Store) => unknown }
  | { readonly change: (directory: string) => void }
  | { readonly clean: (recycledFiles: string) => void };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ engine: fc.constantFrom(0, 0, 0, 1, 2), ask: operations }) },
  { weight: 3, arbitrary: fc.record({ change: foreignChanges }) },
  { weight: 1, arbitrary: fc.record({ clean: recycledFileChanges }) },
);

test("Engines with a memory give the same answers and leave the same leases as an engine without one", () => {
  const scratch = mkdtempSync(join(tmpdir(), "plexus-memory-property-"));
  // All runs share the memories, so that the directory's times are probed only once.
  const memories = [new LeaseMemory(), new LeaseMemory()];
  let run = 0;
  try {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 10, maxLength: 40 }), (steps) => {
        const [shared, reference] = [join(scratch, `${run}`), join(scratch, `${run++}-plain`)];
        const [plain, engines] = [new Store(reference), [...memories, undefined].map((memory) => new Store(shared, memory))];
        for (const step of steps) {
          const answers = takeStep(step, { shared, reference, engines, plain });
          expect([answers[0], leasesIn(shared)]).toEqual([answers[1], leasesIn(reference)]);
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

interface Directories {
  /** The directory of all engines. */
  readonly shared: string;
  /** The directory of the store without memory. */
  readonly reference: string;
  readonly engines: readonly Store[];
  readonly plain: Store;
}

/** Takes a step in both directories, and returns both answers. */
function takeStep(step: Step, { shared, reference, engines, plain }: Directories): readonly [unknown, unknown] {
  if ("ask" in step) {
    const engine = engines[step.engine];
    if (engine === undefined) throw new Error(`no engine ${step.engine}`);
    return [withoutDirectory(step.ask(engine), shared), withoutDirectory(step.ask(plain), reference)];
  }
  if ("clean" in step) step.clean(join(shared, ".plexus-recycled"));
  else {
    for (const directory of [shared, reference].map(networkOf)) {
      mkdirSync(directory, { recursive: true });
      step.change(directory);
    }
  }
  return [undefined, undefined];
}

/** An answer without the directory's name. */
function withoutDirectory(answer: unknown, dataDir: string): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(dataDir, ""));
}
