import { expect, test } from "vitest";
import { address } from "../../policies/rules/testing/policy-objects.ts";
import { forgetTable, keepTables, noteTable, portsHash, writtenTable } from "./served-pods.ts";

const ports = (backend: string) => [
  {
    name: "shop/web:80/tcp/4",
    uid: "u1",
    address: address("10.96.0.7"),
    protocol: 6,
    port: 80,
    backends: [{ address: address(backend), port: 8080 }],
  },
];
const note = (id: string, backend: string): void => {
  const own = ports(backend);
  noteTable(id, { netns: id, ports: own, hash: portsHash(own) });
};

test("SV-07: equal tables of pods are in memory once, and go with their containers", () => {
  note("a", "10.1.0.1");
  note("b", "10.1.0.1");
  note("c", "10.1.0.2");
  expect(writtenTable("b", "b")?.ports).toBe(writtenTable("a", "a")?.ports);
  expect(writtenTable("c", "c")?.ports).toEqual(ports("10.1.0.2"));
  forgetTable("a");
  keepTables(new Set(["a", "b"]));
  expect(["a", "b", "c"].map((id) => writtenTable(id, id) === undefined)).toEqual([true, false, true]);
});
