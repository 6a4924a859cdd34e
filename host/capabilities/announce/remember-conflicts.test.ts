import { expect, test } from "vitest";
import { ok } from "../../../src/fault/result.ts";
import type { AddressConflict, Step } from "../step.ts";
import { remembering } from "./remember-conflicts.ts";

test("a conflict of an address that IPAM gave in this call is noted and reported; the gateway's answer and other addresses are not", async () => {
  const noted: string[] = [];
  const reported: AddressConflict[] = [];
  const found = ["10.1.0.2", "10.1.0.1", "10.1.0.9", "fd00::2"].map((address) => ({ address, mac: "02:00:00:00:00:02" }));
  const announce = remembering(
    { send: async () => ({ ok: undefined }), probe: async () => ({ ok: found }) },
    {
      taken: { of: () => [], note: (network, address, mac) => (noted.push(`${network} ${address} ${mac}`), ok(undefined)) },
      log: () => undefined,
    },
    {
      network: "net",
      onConflict: (conflict: AddressConflict) => void reported.push(conflict),
      step: { plugin: { type: "macvlan" } } as Step["step"],
    },
    { delegatedAddresses: ["10.1.0.2/24", "fd00:0::2/64"] },
  );
  expect(await announce.probe([], 1, 1)).toEqual({ ok: found });
  expect(noted).toEqual(["net 10.1.0.2 02:00:00:00:00:02", "net fd00::2 02:00:00:00:00:02"]);
  expect(reported.map(({ address }) => address)).toEqual(["10.1.0.2", "fd00::2"]);
});
