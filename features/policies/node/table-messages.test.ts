// The messages of a table: parts that decide about no packet are not sent.

import { expect, test } from "vitest";
import { policyObject, readable, tableOf } from "../rules/testing/policy-objects.ts";
import { podTable } from "./pod-table.ts";
import { tableRequests } from "./table-messages.ts";

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

test("PO-04: a policy that isolates and allows nothing has its name and no chain in the kernel, and the interface's own chain ends with a drop", () => {
  const policies = [
    readable(policyObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [{ ports: [{ port: 80 }] }] }, "some")),
    readable(policyObject({ podSelector: {} }, "none")),
  ];
  const table = tableOf(policies, []);
  if (table === undefined) throw new TypeError("no table");
  const messages = tableRequests(podTable, table).map(({ body }) => textOf(body));
  expect(messages.filter((each) => each.includes("mnp.none"))).toEqual([]);
  expect(messages.filter((each) => each.includes("out/net1/mnp.some"))).toEqual([]);
  // The policy "none" isolates one direction, and "some" isolates both.
  const named = (name: string): number => messages.filter((each) => each.includes(`MultiNetworkPolicy ${name}`)).length;
  expect([named("none"), named("some")]).toEqual([1, 2]);
  expect(messages.filter((each) => each.includes("in/net1/mnp.some")).length).toBe(3);
  // The model keeps all of them: reports name each policy.
  expect(table.chains.map(({ name }) => name)).toEqual(expect.arrayContaining(["in/net1/mnp.none", "out/net1/mnp.some"]));
  const unfilled = table.chains.find(({ name }) => name === "out/net1")?.rules.at(-1);
  expect(unfilled?.end).toEqual({ kind: "drop" });
});
