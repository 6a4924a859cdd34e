// An ADD's request for a reservation, read from the step's environment and configuration.

import type { PoolStep } from "../../../host/capabilities/leases/pool-source.ts";
import { splitCniArgs } from "../../../src/cni/environment.ts";
import { parseConfiguration } from "../../../src/json/document.ts";
import { labelProblem, subdomainProblem } from "../../../src/npwg/object-names.ts";
import { readWish, type ReservationWish } from "../rules/reservation-wish.ts";
import type { StaticRequest } from "./static-addresses.ts";

/** A configuration without these characters asks for no reservation of its own. A key may be written with an escape. */
const mayWish = /ipam-claim-reference|keep|\\u/iu;

/** The request; undefined if the runtime names no pod, or a name that Kubernetes does not allow. */
export function staticRequestOf({ step, network, definition }: PoolStep, pool: string): StaticRequest | undefined {
  const { attachment, env, stdin } = step;
  const args = new Map(splitCniArgs(new Map(env).get("CNI_ARGS") ?? ""));
  const [namespace = "", pod = ""] = [args.get("K8S_POD_NAMESPACE"), args.get("K8S_POD_NAME")];
  // Both become parts of paths.
  if (attachment === undefined || labelProblem(namespace) !== undefined || subdomainProblem(pod) !== undefined) return undefined;
  const uid = args.get("K8S_POD_UID");
  return {
    pool,
    namespace,
    pod,
    podUid: uid === "" ? undefined : uid,
    containerId: attachment.containerId,
    ifname: attachment.ifname,
    networks: namesOf(network, definition),
    wish: wishOf(stdin),
  };
}

/** A claim may call the network by its own name, or by its definition's. */
function namesOf(network: string, definition: PoolStep["definition"]): readonly string[] {
  if (definition === undefined) return [network];
  const { namespace, name } = definition;
  const unbound = network.startsWith(`${namespace}.`) ? [network.slice(namespace.length + 1)] : [];
  return [...new Set([network, ...unbound, name, `${namespace}/${name}`])];
}

function wishOf(stdin: string): StaticRequest["wish"] {
  const none: ReservationWish = { claim: undefined, keepsOrdinal: false };
  const document = mayWish.test(stdin) ? parseConfiguration(stdin, { what: "configuration" }) : undefined;
  return document?.ok === true ? readWish(document.value.parsed) : { ok: true, value: none };
}
