// Which interface name each attachment of a pod gets (NPWG 4.1.2.1.5 and 4.2.1): the default network the runtime's
// CNI_IFNAME, a selection the name that it asks for, every other one a generated `net<n>`.

import { fault, type Fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";

/** What the naming needs of a selection. */
export interface NameRequest {
  readonly name: string;
  readonly namespace: string;
  /** The name asked for, already validated. */
  readonly interface?: string | undefined;
}

/** Every network namespace has it. */
const loopback = "lo";

/**
 * One name per request, in order. `defaultName` is the default network's (CNI_IFNAME); `present` are the links that the
 * pod's namespace already has, where they are known (a device plugin may have moved one in).
 *
 * The n-th request without a name of its own gets `net<n>` (n counts all requests, from 1), or the next number that
 * nobody has or asks for, later requests included. All names of a pod differ, which is more than 4.2.1 asks for.
 * Fault INTERFACE_NAME_TAKEN: a requested name is the default network's, an earlier request's or a present link's.
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
  const who = `network ${request.namespace}/${request.name} (element ${index} of the selection)`;
  return fault("INTERFACE_NAME_TAKEN", `${who} asks for interface "${name}", which ${owner} has`);
}
