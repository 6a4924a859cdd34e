import { expect, test } from "vitest";
import { resident } from "./resident.ts";

test("without its options the part is off", () => {
  expect(resident.read({})).toBeUndefined();
});

test("the part listens on --network-socket, and has no socket with --network-feed alone", () => {
  expect(resident.read({ "network-socket": "/run/n.sock" })?.sockets).toEqual(["/run/n.sock"]);
  expect(resident.read({ "network-feed": "/run/n.sock", kubeconfig: "/k" })?.sockets).toEqual([]);
});

test.each([
  [{ "network-dir": "/d" }, "--network-dir needs --network-socket"],
  [{ "network-socket": "n.sock" }, "--network-socket n.sock: must be an absolute path"],
  [{ "network-socket": "/s", "network-dir": "d" }, "--network-dir d: must be an absolute path"],
  [{ "network-feed": "/s" }, "--network-feed needs --kubeconfig"],
  [{ "network-feed-namespace": "nets" }, "--network-feed-namespace needs --network-feed"],
  [{ "network-feed": "/s", kubeconfig: "/k", "network-feed-namespace": "No" }, "--network-feed-namespace No"],
])("refuses %j", (values, wrong) => {
  expect(() => resident.read(values)).toThrow(wrong);
});
