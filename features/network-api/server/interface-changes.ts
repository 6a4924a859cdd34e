// Attaches and detaches networks of running sandboxes for clients of the CRI Network API (CR-19).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { networkLimits } from "../rules/network-config.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { profileNamed } from "../../../src/npwg/profile.ts";
import { parseSelection } from "../../../src/npwg/selection.ts";
import { podNamespace } from "../../../src/kube/pod-identity.ts";
import type { InterfaceChanges } from "../../container-changes.ts";
import { addressesOf, type SandboxAddress, sandboxEntries } from "./sandbox-addresses.ts";

/** An attached interface. */
export interface AttachedInterface {
  readonly interfaceName: string;
  readonly addresses: readonly SandboxAddress[];
}

/** The namespace of a container that is not a pod's: its names of networks have none. */
const noPodNamespace = "default";

/** Attaches the network of a PodSandboxNetworkConfig message. Faults: CONTAINER_UNKNOWN, SELECTION_INVALID, and those of `InterfaceChanges.attach`. */
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
  // Texts, not values: the reader of selections bounds their nesting, and finds a key that occurs twice.
  const element = new Map<string, string>();
  for (const [key, text] of Object.entries(isJsonObject(message["parameters"]) ? message["parameters"] : {})) {
    if (["name", "namespace", "interface", "interfaceRequest"].includes(key))
      return refuse(`parameters.${key} is a field of its own (network_name, interface_name)`);
    if (element.size >= networkLimits.parameters) return refuse(`parameters has more than ${networkLimits.parameters} entries`);
    element.set(key, jsonText(String(text)));
  }
  const name = String(message["network_name"] ?? "");
  const slash = name.indexOf("/");
  if (slash !== -1) element.set("namespace", JSON.stringify(name.slice(0, slash)));
  element.set("name", JSON.stringify(name.slice(slash + 1)));
  const interfaceName = String(message["interface_name"] ?? "");
  if (interfaceName !== "") element.set("interface", JSON.stringify(interfaceName));
  const members = [...element].map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  const selected = parseSelection(`[{${members.join(",")}}]`, namespace, profileNamed("multus"), "network");
  if (!selected.ok) return selected;
  const [selection] = selected.value.networks;
  return selection === undefined ? refuse("network is missing") : ok(selection);
}

/** A text that is JSON as it is, any other text as JSON's string. */
function jsonText(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

function refuse(why: string): Result<never> {
  return failed(fault("SELECTION_INVALID", `network: ${why}`));
}
