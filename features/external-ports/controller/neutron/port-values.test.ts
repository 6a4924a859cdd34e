import { expect, test } from "vitest";
import { podValues } from "./port-values.ts";

test("the longest names of Kubernetes fit into a port's name and description, which have 255 characters at most", () => {
  const namespace = "n".repeat(63);
  const key = `${namespace}/00000000-0000-0000-0000-000000000000-127`;
  const pod = { namespace, name: "p".repeat(253), uid: "00000000-0000-0000-0000-000000000000" };
  const request = { key, pod, nodeName: "node", parameters: {}, requested: {} };
  const name = `plexus:${"o".repeat(40)}:${key}`;
  const settings = { name, deviceOwner: undefined, hostId: undefined, portSecurity: undefined, securityGroups: undefined };
  const { description } = podValues(request, settings);
  expect(description).toMatch(/^pod n{63}\/p+$/);
  expect([String(description).length, name.length <= 255]).toEqual([255, true]);
});
