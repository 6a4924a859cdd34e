import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import {
  addressReservationObject,
  readAddressReservation,
  type ReservationHolder,
  type ReservationOwner,
} from "./address-reservation.ts";

const owner: ReservationOwner = { kind: "StatefulSet", namespace: "shop", name: "db", uid: "s", pod: "db-0", ifname: "net1" };
const holder: ReservationHolder = { node: "n1", pod: "db-0", podUid: "p", containerId: "c", instance: undefined };

function stored(spec: object = {}): Readonly<Record<string, unknown>> {
  const address = readAddress("fd00::7");
  if (address === undefined) throw new Error("no address");
  const object = addressReservationObject({ pool: "storage", address, owner }, [holder]) as { metadata: object; spec: object };
  return { ...object, metadata: { ...object.metadata, uid: "u", resourceVersion: "7" }, spec: { ...object.spec, ...spec } };
}

describe("an AddressReservation", () => {
  test("reads as it was made, with one name for each address", () => {
    const read = readAddressReservation(stored());
    expect(read).toMatchObject({ ok: true, value: { name: "storage.xfd00--7x", pool: "storage", owner, holders: [holder] } });
  });

  test.each([
    ["an address that the name has not", { address: "fd00::8" }, "metadata.name is not storage.xfd00--8x"],
    ["an owner of an unknown kind", { owner: { ...owner, kind: "Node" } }, "spec.owner.kind must be one of"],
    [
      "a StatefulSet without a pod",
      { owner: { ...owner, pod: undefined, interface: "net1" } },
      "spec.owner.pod is for a StatefulSet",
    ],
    ["an owner without a uid", { owner: { ...owner, uid: undefined, interface: "net1" } }, "spec.owner.uid"],
    ["holders that are an object", { holders: {} }, "spec.holders is an object"],
    ["three holders", { holders: [holder, holder, holder] }, "spec.holders has 3 entries"],
    ["a holder that cannot be read: the address would seem free", { holders: [{ node: "n1" }] }, "spec.holders[0].pod"],
  ])("with %s is not read", (_, spec, why) => {
    expect(readAddressReservation(stored(spec))).toMatchObject({ ok: false, problem: expect.stringContaining(why) });
  });
});
