import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import { policyObject } from "../rules/testing/policy-objects.ts";
import { KnownPolicies } from "./known-policies.ts";
import { keptPolicy, type PolicySource } from "./policy-source.ts";

const cniDir = mkdtempSync(join(tmpdir(), "known-policies-"));
afterEach(() => rmSync(cniDir, { recursive: true, force: true }));

const policy = keptPolicy(policyObject({ podSelector: {} }));
const source: PolicySource = {
  policies: async () => ok(policy === undefined ? [] : [policy]),
  networkPolicies: async () => ok([]),
  slices: async () => ok([]),
};
const away = async () => failed(fault("API_REFUSED", "away"));
const silent: PolicySource = { policies: away, networkPolicies: away, slices: away };

test("PO-19: files of namespaces and queries that no pod has asked for an hour go; those that a pod asks stay, also while the API is away", async () => {
  const known = new KnownPolicies(cniDir);
  const over = known.over(source, () => undefined);
  for (const namespace of ["gone", "shop"]) await over.policies(namespace);
  await over.slices("shop", ["old", "used"]);
  const others = new KnownPolicies(cniDir);
  const unheard = others.over(silent, () => undefined);
  for (let round = 0; round < 12; round++) {
    expect(await unheard.policies("shop")).toMatchObject({ ok: true });
    await unheard.slices("shop", ["used"]);
    expect(readdirSync(join(cniDir, "policies"))).toEqual(["gone", "shop"]);
    others.endRound();
  }
  others.endRound();
  expect(readdirSync(join(cniDir, "policies"))).toEqual(["shop"]);
  expect(readdirSync(join(cniDir, "policies", "shop")).toSorted()).toEqual(["policies.json", "used.json"]);
  // A removed file is written again by the next answer, though the text is the same.
  const again = others.over(source, () => undefined);
  await again.policies("gone");
  for (let round = 0; round < 14; round++) others.endRound();
  expect(existsSync(join(cniDir, "policies", "gone"))).toBe(false);
  await again.policies("gone");
  expect(readdirSync(join(cniDir, "policies"))).toEqual(["gone"]);
});

test("PO-19: a namespace whose pods fail keeps its files, and others' files go; edits of a policy without an end leave a bounded number of files", async () => {
  const maxFiles = 20;
  const known = new KnownPolicies(cniDir, maxFiles);
  const over = known.over(source, () => undefined);
  for (const namespace of ["fails", "gone"]) await over.policies(namespace);
  for (let round = 0; round < 13; round++) known.endRound(new Set(["fails"]));
  expect(readdirSync(join(cniDir, "policies"))).toEqual(["fails"]);
  // Files that edits have left: each edit asked one further query.
  const directory = join(cniDir, "policies", "shop");
  mkdirSync(directory, { recursive: true });
  for (let edit = 0; edit < maxFiles; edit++) writeFileSync(join(directory, `${edit}.json`), "[]");
  known.endRound();
  for (let edit = maxFiles; edit < maxFiles + 10; edit++) await over.slices("shop", [`${edit}`, "used"]);
  const files = readdirSync(directory);
  expect(files).toHaveLength(maxFiles);
  expect(files).toEqual(expect.arrayContaining(["used.json", `${maxFiles + 9}.json`]));
});

test("PO-23: pods whose ADDs read equal policies and peers get the same objects, until a watch has its own", async () => {
  const peers = { id: "db", query: "q", endpoints: [{ addresses: ["10.0.0.1"] }] };
  const read = () => ({ policy: keptPolicy(policyObject({ podSelector: {} })), slices: [structuredClone(peers)] });
  let answer = read();
  const reading: PolicySource = {
    policies: async () => ok(answer.policy === undefined ? [] : [answer.policy]),
    networkPolicies: async () => ok([]),
    slices: async () => ok(answer.slices),
  };
  const over = new KnownPolicies(cniDir).over(reading, () => undefined);
  const asked = async (): Promise<readonly unknown[]> => {
    const [policies, slices] = [await over.policies("shop"), await over.slices("shop", ["db"])];
    return policies.ok && slices.ok ? [policies.value[0], slices.value[0]] : [];
  };
  const first = await asked();
  expect(first).toEqual([answer.policy, peers]);
  for (let add = 0; add < 3; add++) {
    answer = read();
    expect((await asked()).map((each, index) => each === first[index])).toEqual([true, true]);
  }
  // The same objects again are those of a watch.
  expect((await asked()).map((each) => each === answer.policy || each === answer.slices[0])).toEqual([true, true]);
  answer = { ...read(), slices: [{ ...peers, endpoints: [{ addresses: ["10.0.0.2"] }] }] };
  expect((await asked())[1]).toBe(answer.slices[0]);
});
