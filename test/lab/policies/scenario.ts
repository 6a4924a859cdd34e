// A scenario of policies: pods with labels, policies, and the connections that pass and stop. The same pods with the same addresses stand for all scenarios.

import { appliedPolicies } from "../../../features/policies/rules/applied-policies.ts";
import { compile } from "../../../features/policies/rules/compile.ts";
import { finds, type FindPeers } from "../../../features/policies/rules/peers.ts";
import type { PolicyTable } from "../../../features/policies/rules/table.ts";
import { address, readable } from "../../../features/policies/rules/testing/policy-objects.ts";
import { multiNetworkPolicy } from "../kube/policy-objects.ts";

/** A pod of a scenario. */
export interface ScenarioPod {
  readonly labels: Readonly<Record<string, string>>;
  /** By default `shop`. */
  readonly namespace?: string;
}

/** A scenario. Its policies are objects of the namespace `shop`. */
export interface Scenario {
  /** The name of the other projects' test. */
  readonly name: string;
  readonly pods: Readonly<Record<string, ScenarioPod>>;
  /** The specifications of the policies on the network `shop/red`. */
  readonly policies: readonly object[];
  /** The specifications of the policies on the network `shop/yellow`. */
  readonly yellow?: readonly object[];
  /** `FROM TO PORT[/udp][ yellow]`: connections that pass, and those that do not. */
  readonly passes: readonly string[];
  readonly stops: readonly string[];
}

/** Labels of the namespaces. */
export const namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shop: { environment: "production", name: "shop" },
  blue: { environment: "staging", name: "blue" },
  green: { name: "green" },
};

/** The networks, with the interface of each pod. */
export const networks = [
  { name: "red", ifname: "net1", subnets: ["10.0.0.", "fd00::"] },
  { name: "yellow", ifname: "net2", subnets: ["10.0.1.", "fd00:1::"] },
] as const;

/** A network. */
export type ScenarioNetwork = (typeof networks)[number];

/** A pod that stands for a pod of each scenario. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
  /** The last part of its addresses, in decimal digits. */
  readonly host: number;
}

const counts = { shop: 5, blue: 3, green: 3 };

/** The pods of the namespace `shop` come first: their addresses end with 11 and up. */
export const places: readonly Place[] = Object.entries(counts)
  .flatMap(([namespace, count]) => Array.from({ length: count }, (_, index) => ({ namespace, name: `pod-${index + 1}` })))
  .map((each, index) => ({ ...each, host: 11 + index }));

/** The addresses of a pod on a network. */
export const addressesOf = ({ host }: Place, { subnets: [v4, v6] }: ScenarioNetwork): readonly [v4: string, v6: string] => [
  `${v4}${host}`,
  `${v6}${host}`,
];

/** A place with the part that its pod has in a scenario: without labels if the scenario needs fewer pods. */
export interface Cast {
  readonly place: Place;
  readonly role: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** Gives each place its part. Throws if a scenario has more pods in a namespace than there are places. */
export function castOf({ name, pods }: Scenario): readonly Cast[] {
  const roles = Object.entries(pods);
  const cast = places.map((place): Cast => {
    const index = roles.findIndex(([, { namespace = "shop" }]) => namespace === place.namespace);
    const [found] = index < 0 ? [] : roles.splice(index, 1);
    return { place, role: found?.[0], labels: found?.[1].labels ?? {} };
  });
  if (roles.length > 0) throw new TypeError(`${name} has too many pods: no place for ${roles.map(([role]) => role).join(", ")}`);
  return cast;
}

/** The policies' objects. Their names begin with `prefix`, so that no two scenarios have a name in common. */
export function policiesOf(
  { policies, yellow = [] }: Scenario,
  prefix: string,
): readonly ReturnType<typeof multiNetworkPolicy>[] {
  return [
    ...policies.map((spec, index) => multiNetworkPolicy("shop", `${prefix}-r${index}`, "red", spec)),
    ...yellow.map((spec, index) => multiNetworkPolicy("shop", `${prefix}-y${index}`, "yellow", spec)),
  ];
}

/** The table of one pod, as its node makes it; undefined if no policy selects the pod. */
export function tableOf(policies: readonly object[], cast: readonly Cast[], { place, labels }: Cast): PolicyTable | undefined {
  const read = policies.map((each) => readable(each));
  const findPeers: FindPeers = (query) => {
    const network = networks.find(({ name }) => query.network === `shop/${name}`);
    if (network === undefined) return [];
    return cast
      .filter((each) =>
        finds(query, {
          namespace: each.place.namespace,
          namespaceLabels: new Map(Object.entries(namespaces[each.place.namespace] ?? {})),
          labels: new Map(Object.entries(each.labels)),
        }),
      )
      .map((each) => ({
        namespace: each.place.namespace,
        addresses: addressesOf(each.place, network).map(address),
        ports: [],
      }));
  };
  const interfaces = networks.flatMap(({ name, ifname }) => {
    const link = { ifname, networks: [`shop/${name}`] };
    const { policies: applied } = appliedPolicies(
      read,
      { namespace: place.namespace, labels: new Map(Object.entries(labels)) },
      link,
    );
    return applied.length === 0 ? [] : [{ link, policies: applied }];
  });
  const table = compile({ interfaces, ports: [], findPeers, established: "keep" });
  if (!table.ok) throw new Error(table.problem);
  return table.value;
}
