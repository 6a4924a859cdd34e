// The part of a pod that Services need. The controller holds all pods of the cluster, so the form is small: labels are one text, and so are networks.

import { isJsonObject } from "../../../src/json/document.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { type NamedPort, namedPorts } from "../../../src/kube/named-ports.ts";
import { podAddresses } from "../../../src/npwg/pod-addresses.ts";

/** A pod on further networks. */
export interface MemberPod extends PodNetworks {
  readonly uid: string;
  /** `\nLABEL=VALUE\n...\n`. */
  readonly labels: string;
  readonly node: string;
  readonly hostname: string;
  readonly subdomain: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  readonly ports: readonly NamedPort[];
}

/** The networks of a pod. */
interface PodNetworks {
  /** Networks with the pod's addresses on them: `NETWORK ADDRESS ADDRESS\n...\n`. */
  readonly networks: string;
}

/** Reads a pod; undefined for one that is no endpoint of any network: it has ended, or has no further addresses. */
export function readMemberPod(object: unknown): MemberPod | undefined {
  if (!isJsonObject(object)) return undefined;
  const [metadata, spec, status] = [object["metadata"], object["spec"], object["status"]];
  if (!isJsonObject(metadata) || typeof metadata["uid"] !== "string") return undefined;
  const phase = isJsonObject(status) ? status["phase"] : undefined;
  if (phase === "Succeeded" || phase === "Failed") return undefined;
  const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const addresses = podAddresses((key) => textOr(annotations[key]));
  if (addresses.size === 0) return undefined;
  const labels = isJsonObject(metadata["labels"]) ? Object.entries(metadata["labels"]) : [];
  const fields = isJsonObject(spec) ? spec : {};
  return {
    uid: metadata["uid"],
    labels: `\n${labels.map(([key, value]) => `${key}=${typeof value === "string" ? value : ""}\n`).join("")}`,
    node: textOr(fields["nodeName"]) ?? "",
    hostname: textOr(fields["hostname"]) ?? "",
    subdomain: textOr(fields["subdomain"]) ?? "",
    isReady: isReady(status),
    isTerminating: typeof metadata["deletionTimestamp"] === "string",
    ports: namedPorts(object),
    // The name of a network has no space; a status with another one was not written by Plexus.
    networks: [...addresses]
      .filter(([network]) => !/\s/u.test(network))
      .flatMap(([network, ips]) => [[network, ...new Set(ips.map(formatAddress))].join(" "), "\n"])
      .join(""),
  };
}

/** The networks that the pod is on. */
export function networksOf({ networks }: PodNetworks): readonly string[] {
  return networks.split("\n").flatMap((line) => (line === "" ? [] : [line.slice(0, placeOf(" ", line))]));
}

/** The pod's addresses on a network; undefined: the pod is not on the network. */
export function addressesOn({ networks }: PodNetworks, network: string): readonly string[] | undefined {
  const line = networks.split("\n").find((each) => each.slice(0, placeOf(" ", each)) === network && each !== "");
  return line?.split(" ").slice(1);
}

function placeOf(part: string, text: string): number {
  const place = text.indexOf(part);
  return place === -1 ? text.length : place;
}

/** Whether a Service's slices are the same with either version of a pod. */
export function isSameMember(one: MemberPod | undefined, other: MemberPod | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether the labels satisfy each `LABEL=VALUE`. */
export function isSelected(labels: MemberPod["labels"], selector: readonly string[]): boolean {
  return selector.every((each) => labels.includes(`\n${each}\n`));
}

function isReady(status: unknown): boolean {
  const conditions = isJsonObject(status) ? status["conditions"] : undefined;
  const list = Array.isArray(conditions) ? conditions : [];
  return list.some((each) => isJsonObject(each) && each["type"] === "Ready" && each["status"] === "True");
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
