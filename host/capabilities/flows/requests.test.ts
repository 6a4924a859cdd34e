import { expect, test } from "vitest";
import { allowedAddresses } from "./requests.ts";

test("names each address once, in whatever form the component repeats it", () => {
  const call = {
    verb: "DEL" as const,
    attachment: { containerId: "one", ifname: "net1" },
    facts: { addresses: ["10.0.0.5/24"] },
  };
  const repeated = ["10.0.0.5", "10.0.0.5/24", "10.0.0.5/32"];
  expect(allowedAddresses(call, repeated, [])).toMatchObject({ ok: true, value: [{ family: 4 }] });
  expect(allowedAddresses(call, repeated, [])).not.toMatchObject({ value: [{}, {}] });
});
