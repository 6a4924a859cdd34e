// Brains that remember, one that doesn't and somebody like native host-local take turns on one directory; a plain store goes through
// the same on another one. No answer and no lease may ever differ.

import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { shortHash } from "../files/short-hash.ts";
import { last, leasesIn, networkOf, Store } from "./fixtures/stores.ts";
import { contentOf } from "./lease-file.ts";
import { LeaseMemory } from "./lease-memory.ts";

const containers = ["a", "bb", "container-c", "d"];
const container = fc.constantFrom(...containers);
const ifname = fc.constantFrom("eth0", "eth10");
const address = fc.integer({ min: 1, max: last }).map((number) => `10.1.0.${number}`);

/** What one brain is asked. */
const asked = fc.oneof(
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

/** What somebody else does to the directory, each time with what native host-local does, or a call of ours that was killed. */
const changed = fc.oneof(
  fc.tuple(container, ifname, address).map(([containerId, name, at]) => (directory: string) => {
    const path = join(directory, at);
    if (!existsSync(path)) writeFileSync(path, contentOf({ containerId, ifname: name }), { flag: "wx", mode: 0o600 });
  }),
  address.map((at) => (directory: string) => {
    if (existsSync(join(directory, at))) unlinkSync(join(directory, at));
  }),
  // A lease of another one under the same name.
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

/** What is done to the spares alone: nobody may notice. */
const cleaned = fc.constantFrom<(spares: string) => void>(
  (spares) => rmSync(spares, { recursive: true, force: true }),
  (spares) => {
    for (const name of existsSync(spares) ? readdirSync(spares) : []) rmSync(join(spares, name));
  },
  (spares) => {
    const [name] = existsSync(spares) ? readdirSync(spares) : [];
    if (name !== undefined) writeFileSync(join(spares, name), "x".repeat(5000));
  },
);

type Step =
  | { readonly brain: number; readonly ask: (store: Store) => unknown }
  | { readonly change: (directory: string) => void }
  | { readonly clean: (spares: string) => void };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ brain: fc.constantFrom(0, 0, 0, 1, 2), ask: asked }) },
  { weight: 3, arbitrary: fc.record({ change: changed }) },
  { weight: 1, arbitrary: fc.record({ clean: cleaned }) },
);

test("Brains that remember answer as one that reads, and leave what it leaves, whoever else is at work", () => {
  const scratch = mkdtempSync(join(tmpdir(), "plexus-memory-property-"));
  // One for all runs: as the machine is, its directories' times are known to tell changes.
  const memories = [new LeaseMemory(), new LeaseMemory()];
  let run = 0;
  try {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 10, maxLength: 40 }), (steps) => {
        const [ours, theirs] = [join(scratch, `${run}`), join(scratch, `${run++}-plain`)];
        const [plain, brains] = [new Store(theirs), [...memories, undefined].map((memory) => new Store(ours, memory))];
        for (const each of steps) {
          const answers = taken(each, { ours, theirs, brains, plain });
          expect([answers[0], leasesIn(ours)]).toEqual([answers[1], leasesIn(theirs)]);
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

interface Places {
  readonly ours: string;
  readonly theirs: string;
  readonly brains: readonly Store[];
  readonly plain: Store;
}

/** Takes a step in both places; what each answers. */
function taken(step: Step, { ours, theirs, brains, plain }: Places): readonly [unknown, unknown] {
  if ("ask" in step) {
    const brain = brains[step.brain];
    if (brain === undefined) throw new Error(`no brain ${step.brain}`);
    return [said(step.ask(brain), ours), said(step.ask(plain), theirs)];
  }
  if ("clean" in step) step.clean(join(ours, ".plexus-spares"));
  else {
    for (const directory of [ours, theirs].map(networkOf)) {
      mkdirSync(directory, { recursive: true });
      step.change(directory);
    }
  }
  return [undefined, undefined];
}

/** An answer without the name of the directory. */
function said(answer: unknown, dataDir: string): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(dataDir, ""));
}
