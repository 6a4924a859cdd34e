import { expect, test } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { statusConfiguration } from "./status-configuration.ts";

const list = parseNetworkList('{"cniVersion":"1.1.0","name":"blue","plugins":[{"type":"a"}]}');

test("STATUS of a network runs with the node's configuration, in which this network is the default one", () => {
  if (!list.ok) throw new Error(list.fault.msg);
  const kept =
    '{"name":"n","type":"plexus","CNIVersion":"1.0.0","ClusterNetwork":"x","readinessindicatorfile":"/r","wasm":{"grants":{}}}';
  const made = statusConfiguration(kept, list.value, "/state");
  expect(made.ok && JSON.parse(made.value)).toEqual({
    name: "n",
    type: "plexus",
    wasm: { grants: {} },
    cniVersion: "1.1.0",
    cniDir: "/state",
    delegates: [JSON.parse(list.value.text)],
  });
  const first = statusConfiguration(undefined, list.value, "/state");
  expect(first.ok && JSON.parse(first.value)).toMatchObject({ type: "plexus", delegates: [{ name: "blue" }] });
});
