import { expect, test } from "vitest";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { bootId } from "../../system/boot-id.ts";
import type { Listed, ListedEntry } from "../reconcile/entry-list.ts";
import { PodEntries } from "./pod-entries.ts";

const entry = (name: string, more: object = {}): ListedEntry =>
  ({
    key: { containerId: name, ifname: "eth0" },
    entry: {
      closed: true,
      plan: { bootId: bootId(), containerId: name, cniArgs: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_UID=u` },
      ...more,
    },
  }) as unknown as ListedEntry;

/** A journal whose looks are counted. */
class CountedJournal {
  entries: ListedEntry[] = [];
  looks = 0;
  answer = (read: Result<Listed>): Result<Listed> => read;
  readonly faults: string[] = [];
  readonly byPod = new PodEntries({ refresh: () => this.#refresh() }, (text) => void this.faults.push(text));

  async #refresh(): Promise<Result<Listed>> {
    this.looks += 1;
    const entries = [...this.entries];
    await Promise.resolve();
    return this.answer(ok({ entries, damaged: [] }));
  }
}

const containers = (entries: readonly ListedEntry[]): readonly string[] => entries.map(({ key }) => key.containerId);

test("a thousand pods that one change concerns cost one look at the journal; each noted change costs another", async () => {
  const of = new CountedJournal();
  of.entries = Array.from({ length: 1000 }, (_, index) => entry(`pod-${index}`));
  expect(await of.byPod.all()).toHaveLength(1000);
  const found = await Promise.all(of.entries.map((_, index) => of.byPod.of(`shop/pod-${index}`)));
  expect(found.map(containers)).toEqual(of.entries.map(({ key }) => [key.containerId]));
  expect(of.looks).toBe(1);
  of.entries.push(entry("late"));
  expect(await of.byPod.of("shop/late")).toEqual([]);
  of.byPod.noteChange();
  expect(containers(await of.byPod.of("shop/late"))).toEqual(["late"]);
  expect(of.looks).toBe(2);
});

test("a change that is noted during a look is seen by a later one; entries of an earlier boot and of running ADDs do not count", async () => {
  const of = new CountedJournal();
  of.entries = [entry("one"), entry("running", { closed: false }), entry("old")];
  Object.assign(of.entries[2]?.entry.plan ?? {}, { bootId: "another" });
  const looking = of.byPod.all();
  of.entries.push(entry("two"));
  of.byPod.noteChange();
  expect(containers(await of.byPod.of("shop/two"))).toEqual(["two"]);
  await looking;
  expect(containers(await of.byPod.all())).toEqual(["one", "two"]);
});

test("after a fault the entries of the last look count", async () => {
  const of = new CountedJournal();
  of.entries = [entry("one")];
  await of.byPod.all();
  of.answer = () => failed(fault("STORE_FAILED", "away"));
  expect(containers(await of.byPod.all())).toEqual(["one"]);
  expect(of.faults).toEqual(["away"]);
});
