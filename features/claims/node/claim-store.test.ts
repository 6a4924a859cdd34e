import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bootId } from "../../../host/system/boot-id.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import { ClaimStore, claimDirectory } from "./claim-store.ts";

const earlier = "00000000-0000-4000-8000-000000000000";
const claim: PreparedClaim = {
  namespace: "shop",
  name: "net",
  uid: "claim-1",
  pods: ["pod-1"],
  isShareable: false,
  networks: [],
};
const shared = { ...claim, name: "shared", uid: "claim-2", isShareable: true };

let directory: string;
let store: ClaimStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-claim-store-"));
  store = new ClaimStore(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const files = (): readonly string[] => readdirSync(claimDirectory(directory)).toSorted();
const nameOf = (boot: string, { uid, isShareable }: PreparedClaim = claim): string =>
  `${uid}.${boot}.${isShareable ? "shop.shared" : "pod-1"}.json`;
/** Makes this boot's file one of an earlier boot. */
const reboot = (of: PreparedClaim, text?: string): void => {
  const path = join(claimDirectory(directory), nameOf(earlier, of));
  renameSync(join(claimDirectory(directory), nameOf(bootId(), of)), path);
  if (text !== undefined) writeFileSync(path, text);
};

test("DR-11: an ADD takes claims of this boot only, and the first Prepare after a reboot replaces the earlier file", () => {
  store.write(claim);
  reboot(claim);
  expect(store.candidates("shop", "pod-1", "this boot")).toEqual({ ok: true, value: { claims: [], damaged: [] } });
  expect(store.candidates("shop", "pod-1", "all boots")).toMatchObject({ value: { claims: [claim], damaged: [] } });
  store.write(claim);
  expect(files()).toEqual([nameOf(bootId())]);
  expect(store.candidates("shop", "pod-1", "this boot")).toMatchObject({ value: { claims: [claim], damaged: [] } });
});

test("DR-11: a file that a power loss has torn blocks no pod, and Unprepare removes the file", () => {
  store.write(claim);
  store.write(shared);
  reboot(shared, "");
  for (const boots of ["this boot", "all boots"] as const)
    expect(store.candidates("shop", "pod-1", boots)).toMatchObject({ value: { claims: [claim], damaged: [] } });
  expect(store.claim(shared.uid)).toEqual({ ok: true, value: undefined });
  expect(store.uids()).toEqual({ ok: true, value: [claim.uid, shared.uid] });
  store.remove(shared.uid);
  expect(files()).toEqual([nameOf(bootId())]);
});

test("DR-11: a damaged file of this boot is an error of the pods that may name the claim, and of no other pod", () => {
  store.write(claim);
  writeFileSync(join(claimDirectory(directory), nameOf(bootId())), "{");
  expect(store.candidates("shop", "pod-1", "this boot")).toMatchObject({ ok: false, fault: { kind: "CLAIM_UNUSABLE" } });
  expect(store.candidates("shop", "pod-2", "this boot")).toEqual({ ok: true, value: { claims: [], damaged: [] } });
});

test("DR-11: a damaged file of a claim that several pods may name is reported beside the readable claims of the namespace", () => {
  store.write(claim);
  store.write(shared);
  writeFileSync(join(claimDirectory(directory), nameOf(bootId(), shared)), "{");
  expect(store.candidates("shop", "pod-1", "this boot")).toMatchObject({ value: { claims: [claim], damaged: [shared.uid] } });
  expect(store.candidates("depot", "pod-3", "this boot")).toEqual({ ok: true, value: { claims: [], damaged: [] } });
});

test("a uid with a separator is refused, and names no file", () => {
  expect(store.write({ ...claim, uid: "../claim" })).toMatchObject({ ok: false, fault: { kind: "CLAIM_UNUSABLE" } });
  expect(store.write({ ...claim, pods: ["a.b"] })).toMatchObject({ ok: false, fault: { kind: "CLAIM_UNUSABLE" } });
});
