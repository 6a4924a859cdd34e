// Attaches and detaches networks of running sandboxes for clients of the CRI Network API (CR-19).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { networkLimits } from "../../../src/network-api/network-config.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { profileNamed } from "../../../src/npwg/profile.ts";
import { parseSelection } from "../../../src/npwg/selection.ts";
import { podNamespace } from "../../engine/call/pod-identity.ts";
import type { HotPlugOperations } from "../hotplug/hot-plug.ts";
import { addressesOf, type SandboxAddress, sandboxEntries } from "./sandbox-addresses.ts";

/** The part of hot-plug that the methods use. */
export type InterfaceChanges = Pick<HotPlugOperations, "attach" | "detach">;

/** An attached interface. */
export interface AttachedInterface {
  readonly interfaceName: string;
  readonly addresses: readonly SandboxAddress[];
}

/** The namespace of a container that is not a pod's: its names of networks have none. */
const noPodNamespace = "default";

/** Attaches the network of a PodSandboxNetworkConfig message. Faults: CONTAINER_UNKNOWN, SELECTION_INVALID, and those of `HotPlugOperations.attach`. */
export async function attachInterface(
  changes: InterfaceChanges,
  stateDirectory: string,
  sandboxId: string,
  network: unknown,
): Promise<Result<AttachedInterface>> {
  const entries = sandboxEntries(stateDirectory, sandboxId);
  if (!entries.ok) return entries;
  const namespace = entries.value.map(({ plan }) => podNamespace(plan.cniArgs)).find((each) => each !== "");
  const selection = selectionOf(network, namespace ?? noPodNamespace);
  if (!selection.ok) return selection;
  const attached = await changes.attach(sandboxId, selection.value);
  if (!attached.ok) return attached;
  const { ifname } = attached.value;
  const after = sandboxEntries(stateDirectory, sandboxId);
  const all = after.ok ? addressesOf(after.value) : [];
  return ok({ interfaceName: ifname, addresses: all.filter(({ interfaceName }) => interfaceName === ifname) });
}

/** The message as an element of a network selection, which has rules for each key. Fault SELECTION_INVALID. */
function selectionOf(network: unknown, namespace: string): Result<NetworkSelection> {
  const message = isJsonObject(network) ? network : {};
  const element = new Map<string, unknown>();
  for (const [key, text] of Object.entries(isJsonObject(message["parameters"]) ? message["parameters"] : {})) {
    if (["name", "namespace", "interface"].includes(key))
      return refuse(`parameters.${key} is a field of its own (network_name, interface_name)`);
    if (element.size >= networkLimits.parameters) return refuse(`parameters has more than ${networkLimits.parameters} entries`);
    element.set(key, jsonOf(String(text)));
  }
  const name = String(message["network_name"] ?? "");
  const slash = name.indexOf("/");
  if (slash !== -1) element.set("namespace", name.slice(0, slash));
  element.set("name", name.slice(slash + 1));
  const interfaceName = String(message["interface_name"] ?? "");
  if (interfaceName !== "") element.set("interface", interfaceName);
  const text = JSON.stringify([Object.fromEntries(element)]);
  const selected = parseSelection(text, namespace, profileNamed("multus"), "network");
  if (!selected.ok) return selected;
  const [selection] = selected.value.networks;
  return selection === undefined ? refuse("network is missing") : ok(selection);
}

/** A value that is JSON, otherwise a string. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function refuse(why: string): Result<never> {
  return failed(fault("SELECTION_INVALID", `network: ${why}`));
}
