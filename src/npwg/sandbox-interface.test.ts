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
