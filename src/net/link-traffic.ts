// The traffic of pods' links as the daemon tells it to plexusctl: counters of both directions, and their rates.

import { boundedJson } from "../json/bounded-json.ts";
import { isJsonObject } from "../json/document.ts";

/** The counters of one direction. */
export interface Counters {
  readonly packets: number;
  readonly bytes: number;
  readonly errors: number;
  readonly drops: number;
}

/** Both directions, as the pod sees them. */
export interface BothDirections {
  readonly receive: Counters;
  readonly transmit: Counters;
}

/** The directions. */
export const directions = ["receive", "transmit"] as const;

/** The counters of a link. */
export const counted = ["packets", "bytes", "errors", "drops"] as const;

/** The traffic of one link. */
export interface LinkTraffic extends BothDirections {
  /** `namespace/name`, or the container's id. */
  readonly pod: string;
  readonly ifname: string;
  readonly network: string;
  /** Per second, since the reading before; zero after the first one. */
  readonly rates: BothDirections;
}

/** The document. */
export interface TrafficDocument {
  readonly apiVersion: "plexus/v1";
  readonly kind: "LinkTraffic";
  /** Age of the oldest reading in ms; null: nothing was read yet. */
  readonly ageMs: number | null;
  readonly links: readonly LinkTraffic[];
}

/** The path of the document on the status socket. */
export const trafficPath = "/link-traffic";

/** Reads a document; undefined for a text of another form. */
export function readTraffic(text: string): TrafficDocument | undefined {
  const document = boundedJson(text);
  return isTraffic(document) ? document : undefined;
}

function isTraffic(value: unknown): value is TrafficDocument {
  if (!isJsonObject(value) || value["kind"] !== "LinkTraffic") return false;
  const { links, ageMs } = value;
  return (ageMs === null || typeof ageMs === "number") && Array.isArray(links) && links.every(isLink);
}

function isLink(each: unknown): boolean {
  const texts = ["pod", "ifname", "network"];
  return (
    isJsonObject(each) && texts.every((name) => typeof each[name] === "string") && hasCounters(each) && hasCounters(each["rates"])
  );
}

function hasCounters(each: unknown): boolean {
  if (!isJsonObject(each)) return false;
  return directions.every((name) => {
    const counters = each[name];
    return isJsonObject(counters) && counted.every((which) => typeof counters[which] === "number");
  });
}
