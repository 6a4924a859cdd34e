// Decides which slices of a Service are created, patched and removed. An endpoint stays in the slice that has it, so that a change of one pod writes one slice.

import type { Family } from "../../../src/net/ip.ts";
import { type EndpointGroup, endpointKey, type EndpointPort, type EndpointText } from "./endpoint.ts";
import { maxEndpoints, metaText, type ServiceSlice, type SliceMeta } from "./service-slice.ts";

/** The content that a slice is to have. */
export interface SliceContent {
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly EndpointText[];
}

/** One write. */
export type SliceWrite =
  | { readonly kind: "create"; readonly name: string; readonly content: SliceContent }
  | { readonly kind: "patch"; readonly slice: ServiceSlice; readonly content: SliceContent }
  | { readonly kind: "remove"; readonly slice: ServiceSlice };

/** Settings of a plan. */
export interface SlicedService {
  /** The Service's name. */
  readonly service: string;
  /** The Service's uid. Slices of an earlier Service of the name get the new owner: else the garbage collector removes them. */
  readonly uid: string;
  readonly families: readonly Family[];
  readonly groups: readonly EndpointGroup[];
  readonly meta: SliceMeta;
  /** The slices that Plexus wrote for the Service. */
  readonly slices: readonly ServiceSlice[];
  /** Names that slices of other writers have. */
  readonly taken?: ReadonlySet<string> | undefined;
}

/** The writes: creations and patches first, so that no endpoint is missing in between. */
export function planSlices({ service, uid, families, groups, meta, slices, taken }: SlicedService): readonly SliceWrite[] {
  const unused = new Set(slices);
  const byPorts = Map.groupBy(slices, ({ family, ports }) => `${family} ${ports}`);
  const wantedMeta = metaText(meta);
  const writes: SliceWrite[] = [];
  const fill = (slice: ServiceSlice, content: SliceContent): void => {
    unused.delete(slice);
    const isSame =
      slice.owner === uid &&
      slice.meta === wantedMeta &&
      slice.ports === JSON.stringify(content.ports) &&
      slice.endpoints.length === content.endpoints.length &&
      slice.endpoints.every((text, index) => text === content.endpoints[index]);
    if (!isSame) writes.push({ kind: "patch", slice, content });
  };
  const more: SliceContent[] = [];
  for (const family of families) {
    const ofFamily = groups.filter((group) => group.family === family);
    // A Service without endpoints has one slice of each family: readers see that the controller has answered.
    const whole = ofFamily.length === 0 ? [{ family, ports: [], endpoints: [] }] : ofFamily;
    for (const { ports, endpoints } of whole) {
      const text = JSON.stringify(ports);
      const known = byPorts.get(`${family} ${text}`) ?? [];
      const parts = distribute(known, endpoints);
      // An empty part has a slice only where all parts are empty, and only one.
      const kept = parts.some((each) => each.length > 0) ? -1 : 0;
      for (const [index, part] of parts.entries()) {
        const slice = known[index];
        const content = { family, ports, endpoints: part };
        if (part.length === 0 && index !== kept) continue;
        if (slice === undefined) more.push(content);
        else fill(slice, content);
      }
    }
  }
  const free = Map.groupBy(unused, ({ family }) => family);
  const nextName = freeNames(service, new Set([...slices.map(({ name }) => name), ...(taken ?? [])]));
  for (const content of more) {
    const slice = free.get(content.family)?.shift();
    if (slice === undefined) writes.push({ kind: "create", name: nextName(), content });
    else fill(slice, content);
  }
  return [...writes, ...[...unused].map((slice): SliceWrite => ({ kind: "remove", slice }))];
}

/** The endpoints of each known slice, and behind them those of new ones. */
function distribute(known: readonly ServiceSlice[], endpoints: readonly EndpointText[]): readonly (readonly EndpointText[])[] {
  const wanted = new Map(endpoints.map((text) => [endpointKey(text), text]));
  const parts: EndpointText[][] = known.map((slice) =>
    slice.endpoints.flatMap((before) => {
      const key = endpointKey(before);
      const text = wanted.get(key);
      wanted.delete(key);
      return text ?? [];
    }),
  );
  let at = 0;
  for (const text of wanted.values()) {
    while ((parts[at]?.length ?? 0) >= maxEndpoints) at += 1;
    (parts[at] ??= []).push(text);
  }
  return parts.length === 0 ? [[]] : parts;
}

/** Whether a slice of the Service can have this name. */
export function isSliceName(service: string, name: string): boolean {
  const prefix = `${service}-plexus-`;
  return name.startsWith(prefix) && /^\d+$/u.test(name.slice(prefix.length));
}

/** Answers names that no slice has, by growing numbers. */
function freeNames(service: string, used: ReadonlySet<string>): () => string {
  let number = -1;
  return () => {
    do number += 1;
    while (used.has(`${service}-plexus-${number}`));
    return `${service}-plexus-${number}`;
  };
}
