// A prepared claim as the node's file has it: what the ADD of the claim's pods will attach.

import { isJsonObject } from "../../../src/json/document.ts";
import type { AllocatedClaim, ClaimDevice, ClaimNetwork } from "./claim-networks.ts";
import type { NetworkSource } from "./network-parameters.ts";
import { type LinkKind, linkKinds } from "./node-link.ts";

/** The link of a claimed device on this node. */
export interface ClaimedLink {
  readonly name: string;
  readonly kind: LinkKind;
  /** Whether the link is the claim's alone and moves into the pod. */
  readonly isExclusive: boolean;
  readonly pciAddress?: string;
  /** The resource by which annotations' networks find an exclusive device. */
  readonly resourceName?: string;
  readonly vlans?: { readonly first: number; readonly last: number };
}

/** One attachment of the claim's pods. */
export interface PreparedNetwork extends ClaimNetwork {
  readonly link: ClaimedLink;
}

/** A device that a network of the pod's annotation takes. */
export interface PreparedDevice extends ClaimDevice {
  readonly link: ClaimedLink;
}

/** A prepared claim. */
export interface PreparedClaim extends Omit<AllocatedClaim, "networks" | "devices"> {
  readonly networks: readonly PreparedNetwork[];
  readonly devices?: readonly PreparedDevice[];
}

const kind = "plexusClaimV1";
const uidForm = /^[0-9A-Za-z-]{1,64}$/;

const sourceKinds: readonly NetworkSource["kind"][] = ["definition", "podNetwork", "list"];

/** Whether the text is a uid of Kubernetes, which may become a part of a file's name. */
export function isUid(text: string): boolean {
  return uidForm.test(text);
}

/** The file's text. */
export function printPreparedClaim(claim: PreparedClaim): string {
  return `${JSON.stringify({ kind, ...claim })}\n`;
}

/** Reads the file's text, which this driver has written; undefined for another text, such as a torn one. */
export function readPreparedClaim(text: string): PreparedClaim | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isPrepared(value) ? value : undefined;
}

function isPrepared(value: unknown): value is PreparedClaim {
  if (!isJsonObject(value) || value["kind"] !== kind) return false;
  const { namespace, name, uid, pods, networks, isShareable } = value;
  const isText = [namespace, name, uid].every((each) => typeof each === "string");
  if (!isText || typeof isShareable !== "boolean" || !Array.isArray(pods) || !Array.isArray(networks)) return false;
  const { devices = [] } = value;
  return networks.every(isNetwork) && Array.isArray(devices) && devices.every(hasLink);
}

function hasLink(value: unknown): boolean {
  const link = isJsonObject(value) ? value["link"] : undefined;
  return isJsonObject(link) && typeof link["name"] === "string" && linkKinds.some((each) => each === link["kind"]);
}

function isNetwork(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { source } = value;
  return hasLink(value) && isJsonObject(source) && sourceKinds.some((each) => each === source["kind"]);
}
