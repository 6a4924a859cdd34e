// The difference between the networks that a running pod's annotation selects and those that the journal has. Pure: no definition is read, so an
// edited or deleted definition changes no attachment.

import type { NetworkSelection } from "./network-selection.ts";

/** An attachment of the journal that a pod's annotation selected. */
export interface SelectedAttachment {
  readonly ifname: string;
  /** `namespace/name` of the definition. */
  readonly source: string;
  /** The interface name that the selection requested; undefined if the name was generated. */
  readonly interface: string | undefined;
  /** The selection's requests, as `requestsText` prints them. */
  readonly requests: string;
  /** False: an ADD or a DEL of it broke off. */
  readonly whole: boolean;
}

/** A selection without an attachment. */
export interface Addition {
  readonly selection: NetworkSelection;
  /** Position in the annotation, from which a generated name counts. */
  readonly index: number;
  /** The interface of its attachment that broke off and must be detached before; undefined without one. */
  readonly ifname: string | undefined;
  /** The interface of a whole attachment of the network that the selection replaces, because its requests or its name have changed; undefined without one. */
  readonly replaces: string | undefined;
}

/** The changes that make a pod's attachments those that its annotation selects. `detach` comes first, in this order. */
export interface Difference {
  /** Interface names, the last attached first (NPWG 7.2). */
  readonly detach: readonly string[];
  /** In the annotation's order. */
  readonly attach: readonly Addition[];
}

/**
 * Compares the selections of an annotation with the attachments that an annotation selected. An attachment matches by network and requests, and by its
 * interface name if the selection requests one. A selection without an interface name keeps the name of its attachment, so that the order of the
 * annotation does not matter.
 */
export function hotPlugDifference(wanted: readonly NetworkSelection[], attached: readonly SelectedAttachment[]): Difference {
  const unmatched = new Set(attached);
  const matches = new Map<NetworkSelection, SelectedAttachment>();
  const match = (selection: NetworkSelection, fits: (each: SelectedAttachment) => boolean): void => {
    const source = `${selection.namespace}/${selection.name}`;
    const requests = requestsText(selection);
    for (const each of unmatched) {
      if (each.source !== source || each.requests !== requests || !fits(each)) continue;
      unmatched.delete(each);
      matches.set(selection, each);
      return;
    }
  };
  // Requested names first: an attachment with a requested name must not go to a selection that takes any.
  for (const each of wanted) if (each.interface !== undefined) match(each, ({ ifname }) => ifname === each.interface);
  const unnamed = wanted.filter((each) => each.interface === undefined);
  for (const each of unnamed) match(each, (attachment) => attachment.interface === undefined);
  for (const each of unnamed) if (!matches.has(each)) match(each, () => true);
  const replaceable = [...unmatched].filter(({ whole }) => whole);
  const attach = wanted.flatMap((selection, index): Addition[] => {
    const found = matches.get(selection);
    if (found?.whole === true) return [];
    const source = `${selection.namespace}/${selection.name}`;
    const replaced = found === undefined ? replaceable.find((each) => each.source === source) : undefined;
    if (replaced !== undefined) replaceable.splice(replaceable.indexOf(replaced), 1);
    return [{ selection, index, ifname: found?.ifname, replaces: replaced?.ifname }];
  });
  const kept = new Set([...matches.values()].filter(({ whole }) => whole));
  return {
    detach: attached
      .filter((each) => !kept.has(each))
      .map(({ ifname }) => ifname)
      .toReversed(),
    attach,
  };
}

/** An attachment of an entry that has no facts for a comparison: its ADD ran without the key `hotPlug`. */
export interface PlainAttachment {
  /** `namespace/name` of the definition, or another source. */
  readonly source: string;
  /** Whether only a selection of the pod can have led to it. */
  readonly isSelected: boolean;
}

/** Whether an annotation certainly selects other networks than these attachments have. Requests and interface names are not known. */
export function selectsOtherNetworks(wanted: readonly NetworkSelection[], attached: readonly PlainAttachment[]): boolean {
  const left = [...attached];
  for (const { namespace, name } of wanted) {
    const found = left.findIndex(({ source }) => source === `${namespace}/${name}`);
    if (found < 0) return true;
    left.splice(found, 1);
  }
  return left.some(({ isSelected }) => isSelected);
}

/**
 * The requests of a selection besides network and interface, as a text that depends on neither the form of the annotation nor the order of its keys.
 * "{}" without requests.
 */
export function requestsText(selection: NetworkSelection): string {
  const { name: _name, namespace: _namespace, interface: _interface, ...requests } = selection;
  return JSON.stringify(canonical(requests));
}

/** Whether a selection with these requests, as `requestsText` prints them, asks for the pod's default route. */
export function asksForDefaultRoute(requests: string): boolean {
  const read: unknown = JSON.parse(requests);
  return typeof read === "object" && read !== null && "defaultRoute" in read;
}

/** The value with sorted keys, without undefined and empty members; a map becomes an object. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (value instanceof Map) return canonical(Object.fromEntries(value));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .map(([key, member]): [string, unknown] => [key, canonical(member)])
    .filter(([, member]) => member !== undefined && !isEmptyObject(member))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** The generated name of a new attachment at this position of the annotation: `net<n>`, or the next number that is free. */
export function nextInterfaceName(index: number, isTaken: (candidate: string) => boolean): string {
  let number = index + 1;
  while (isTaken(`net${number}`)) number += 1;
  return `net${number}`;
}
