import { expect, test } from "vitest";
import { sandboxInterfaces } from "./sandbox-interface.ts";

test("N1-37: an interface with an empty sandbox belongs to the host", () => {
  const result = {
    cniVersion: "1.1.0",
    interfaces: [{ name: "a", sandbox: "" }, { name: "b" }, { name: "c", sandbox: "/n" }],
    ips: [],
    routes: [],
  } as const;
  expect(sandboxInterfaces(result)).toEqual([{ index: 2, interface: { name: "c", sandbox: "/n" } }]);
});

test("FI-26: a number in the place of the sandbox is none, as AWS VPC CNI writes it", () => {
  const interfaces = [{ name: "dummy1", mac: "0", sandbox: "0" }, { name: "eth0", sandbox: "/run/netns/a" }]; // prettier-ignore
  expect(sandboxInterfaces({ cniVersion: "1.0.0", interfaces, ips: [], routes: [] }).map(({ index }) => index)).toEqual([1]);
});
