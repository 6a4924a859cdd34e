import { expect, test } from "vitest";
import { fault } from "../fault/fault.ts";
import type { AttachmentContext, StepOutcome } from "./chain-step.ts";
import { ipamDelChain } from "./ipam-deletion.ts";
import { parseNetworkList } from "./network-list.ts";

const plugin = { type: "host-device", device: "eth1", ipam: { type: "host-local", subnet: "10.0.0.0/24" } };

/** The chain of the list's second plugin, whose IPAM plugin answers `outcome`. */
function del(outcome: StepOutcome, cached?: string, written: object = plugin) {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.1.0", name: "n", plugins: [{ type: "first" }, written] }));
  if (!list.ok) throw new Error(list.fault.msg);
  const attachment = { containerId: "c1", ifname: "net1", netns: "", args: "", capabilityArgs: new Map() };
  const context: AttachmentContext = { list: list.value, attachment, path: "/opt/cni/bin", inherited: [] };
  const conf = list.value.plugins[1];
  if (conf === undefined) throw new Error("no second plugin");
  const chain = ipamDelChain(context, 1, conf, cached);
  const { value: step, done } = chain.next();
  return { step: done === true ? undefined : step, end: done === true ? step : chain.next(outcome).value };
}

test("the IPAM plugin gets the DEL of the step, with the configuration of the plugin that names it", () => {
  const cached = JSON.stringify({ cniVersion: "1.1.0", ips: [{ address: "10.0.0.2/24" }] });
  const { step, end } = del({ ok: true, stdout: "" }, cached);
  expect(step).toMatchObject({ index: 1, verb: "DEL", plugin: { type: "host-local" }, attachment: { ifname: "net1" } });
  expect(Object.fromEntries(step !== undefined && "env" in step ? step.env : [])).toMatchObject({
    CNI_COMMAND: "DEL",
    CNI_CONTAINERID: "c1",
    CNI_NETNS: "",
  });
  expect(JSON.parse(step !== undefined && "stdin" in step ? step.stdin : "{}")).toMatchObject({
    ...plugin,
    name: "n",
    prevResult: { ips: [{ address: "10.0.0.2/24" }] },
  });
  expect(end).toEqual({ ok: true, value: undefined });
});

test("a damaged result of the cache is left out: the address is given back without it", () => {
  const { step } = del({ ok: true, stdout: "" }, "{");
  expect(step !== undefined && "stdin" in step ? JSON.parse(step.stdin) : {}).not.toHaveProperty("prevResult");
});

test("a plugin without ipam.type is its own IPAM plugin", () => {
  expect(del({ ok: true, stdout: "" }, undefined, { type: "host-local" }).step).toMatchObject({ plugin: { type: "host-local" } });
});

test("a failure names the IPAM plugin and the step", () => {
  const { end } = del({ ok: false, fault: fault("PLUGIN_FAILED", "no lease", { code: 101 }) });
  const msg = 'IPAM plugin type="host-local" failed (delete): no lease';
  expect(end).toMatchObject({ ok: false, fault: { kind: "PLUGIN_FAILED", code: 101, msg }, failedStep: 1 });
});
