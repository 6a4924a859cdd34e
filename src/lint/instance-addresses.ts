// Finds virtual machines whose addresses a live migration frees: the guest keeps its address, and the DEL of the source pod gives it to another pod.

import { poolNameIn } from "../configuration/pool-name.ts";
import { isJsonObject } from "../json/document.ts";
import { finding, type LintFinding, type LintNetwork, offsetIn } from "./finding.ts";

/** A virtual machine of KubeVirt. */
export interface Machine {
  /** The kind and `namespace/name`. */
  readonly what: string;
  /** The definitions of its networks, as `namespace/name`. */
  readonly definitions: readonly string[];
}

/** The object as a virtual machine; undefined if it is none. */
export function machineIn(object: Readonly<Record<string, unknown>>): Machine | undefined {
  const { kind } = object;
  if (kind !== "VirtualMachine" && kind !== "VirtualMachineInstance") return undefined;
  const { namespace = "default", name } = partOf(object, "metadata");
  const spec = partOf(object, "spec");
  const { networks } = kind === "VirtualMachine" ? partOf(partOf(spec, "template"), "spec") : spec;
  const definitions = (Array.isArray(networks) ? networks : []).flatMap((each) => {
    const { networkName } = isJsonObject(each) ? partOf(each, "multus") : {};
    if (typeof networkName !== "string") return [];
    return [networkName.includes("/") ? networkName : `${String(namespace)}/${networkName}`];
  });
  return { what: `${kind} ${String(namespace)}/${String(name)}`, definitions };
}

/** The name of an AddressPool that keeps addresses for instances; undefined for any other object. */
export function keepingPoolIn(object: Readonly<Record<string, unknown>>): string | undefined {
  const { name } = partOf(object, "metadata");
  const keeps = object["kind"] === "AddressPool" && partOf(object, "spec")["keepInstanceAddresses"] === true;
  return keeps && typeof name === "string" ? name : undefined;
}

/** A finding for each network with a pool that keeps no address for the machines that use the network. */
export function instanceAddresses(
  networks: readonly LintNetwork[],
  machines: readonly Machine[],
  keepingPools: ReadonlySet<string>,
): readonly LintFinding[] {
  return networks.flatMap((network) => {
    const users = machines.filter(({ definitions }) => network.object !== "" && definitions.includes(network.object));
    const [user] = users;
    if (user === undefined) return [];
    return network.list.plugins.flatMap(({ document }, plugin) => {
      const pool = poolNameIn(document.parsed);
      if (!pool.ok || pool.value === undefined || keepingPools.has(pool.value)) return [];
      // KubeVirt makes an IPAMClaim for each machine of such a network.
      if (document.parsed["allowPersistentIPs"] === true) return [];
      const using = users.length > 1 ? ` and ${users.length - 1} more use` : " uses";
      const message = `ipam.pool: ${user.what}${using} this network, and AddressPool ${pool.value} is not known to keep an address for an instance`;
      const offset = offsetIn(network, plugin, ["ipam", "pool"]);
      return [finding("instance-address", { source: network.source, object: network.object, offset, message })];
    });
  });
}

function partOf(object: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}
