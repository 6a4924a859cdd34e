// Assigns an interface name to each attachment of a pod (NPWG 4.1.2.1.5 and 4.2.1): the default network gets CNI_IFNAME, a
// selection the name that it requests, every other attachment a generated `net<n>`.

import { fault, type Fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";

/** The fields of a selection that naming needs. */
export interface NameRequest {
  readonly name: string;
  readonly namespace: string;
  /** The requested name, already validated. */
  readonly interface?: string | undefined;
}

/** Every network namespace has this link. */
const loopback = "lo";

/**
 * One name for each request, in order. `defaultName` is the default network's (CNI_IFNAME). `present` are the links that the
 * pod's network namespace already has, if known: a device plugin may have moved a link in.
 *
 * The n-th request without a name gets `net<n>` (n counts all requests from 1), or the next number that is neither used nor
 * requested, also by later requests. All names of a pod differ, which is stricter than 4.2.1. Fault INTERFACE_NAME_TAKEN: a
 * requested name is the default network's, an earlier request's or a present link's.
 */
export function assignInterfaceNames(
  requests: readonly NameRequest[],
  defaultName: string,
  present: Iterable<string> = [],
): Result<readonly string[]> {
  const owners = new Map<string, string>([[loopback, "the loopback interface"]]);
  for (const link of present) owners.set(link, "a link that is already in the pod's network namespace");
  owners.set(defaultName, "the cluster's default network");
  const requested = new Set(requests.flatMap((each) => each.interface ?? []));
  const names: string[] = [];
  for (const [index, request] of requests.entries()) {
    const name = request.interface ?? generatedName(index + 1, (candidate) => owners.has(candidate) || requested.has(candidate));
    const owner = request.interface === undefined ? undefined : owners.get(request.interface);
    if (owner !== undefined) return failed(nameTaken(request, name, owner, index));
    owners.set(name, `network ${request.namespace}/${request.name} (element ${index} of the selection)`);
    names.push(name);
  }
  return ok(names);
}

function generatedName(first: number, isTaken: (candidate: string) => boolean): string {
  let number = first;
  while (isTaken(`net${number}`)) number += 1;
  return `net${number}`;
}

function nameTaken(request: NameRequest, name: string, owner: string, index: number): Fault {
  const requester = `network ${request.namespace}/${request.name} (element ${index} of the selection)`;
  return fault("INTERFACE_NAME_TAKEN", `${requester} requests interface "${name}", which ${owner} already has`);
}
