// The interface of a fabric: four operations, each of which may be repeated. docs/how-to/write-a-provider.md has the same over HTTP.

import type { ProvidedPort } from "../rules/provided-port.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";

/** A port that is wanted. */
export interface PortRequest {
  /** Unique for ever: `NAMESPACE/NAME` of the ExternalPort, whose name has the pod's UID. A provider finds its port again by it. */
  readonly key: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly nodeName: string;
  /** The definition's parameters. They come from the definition's author, who may be hostile. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly requested: { readonly mac?: string; readonly ips?: readonly string[] };
}

/** A port that the fabric has for this cluster. */
export interface OwnedPort {
  readonly key: string;
  readonly providerId: string;
}

/** Whether the value has the form of an owned port, with the bounds of the provider's schema. */
export function isOwnedPort(value: unknown): value is OwnedPort {
  if (!isJsonObject(value)) return false;
  const { key, providerId } = value;
  if (typeof key !== "string" || typeof providerId !== "string") return false;
  return key !== "" && key.length <= 200 && providerId.length <= 253;
}

/**
 * Why an operation failed. `unavailable`: no answer, or one that may change soon. `quota`: the fabric has no more to give. `invalid`: the parameters are
 * wrong. `refused`: the fabric says no for good.
 */
export interface ProviderFailure {
  readonly ok: false;
  readonly reason: "unavailable" | "quota" | "invalid" | "refused";
  readonly message: string;
  /** Pause that the fabric asks for, in ms. */
  readonly pauseMs?: number;
}

/** The outcome of an operation. */
export type ProviderResult<T> = { readonly ok: true; readonly value: T } | ProviderFailure;

/** Free ports by the subnet of their pool. */
export type AheadState = ReadonlyMap<string, number>;

/** Ports that a provider makes before pods need them. */
export interface PortsAhead {
  /** Makes missing ports and gives surplus ones back; answers the free ports. */
  readonly keep: () => Promise<ProviderResult<AheadState>>;
  /** The free ports of the last `keep`, also of one that failed, less those taken since. */
  readonly free: () => AheadState;
  /** Resolves when a pool has fewer free ports than its minimum, after the last `keep`. */
  readonly untilLow: () => Promise<void>;
}

/** A fabric. All operations are idempotent, and bound their own time. */
export interface PortProvider {
  /** Undefined for a provider that makes each port when a pod needs it. */
  readonly ahead?: PortsAhead;
  /** Makes the port of this key, or answers the one that exists. */
  readonly ensure: (request: PortRequest) => Promise<ProviderResult<ProvidedPort>>;
  /** Removes the port of this key; succeeds if there is none. */
  readonly release: (port: OwnedPort) => Promise<ProviderResult<void>>;
  /** All ports that the fabric has for this cluster, so that ports without an ExternalPort can be released. */
  readonly list: () => Promise<ProviderResult<readonly OwnedPort[]>>;
  /** Whether the fabric forwards packets of the port. */
  readonly active: (port: OwnedPort) => Promise<ProviderResult<boolean>>;
}

/** Maximum length of a failure's message. A condition and an Event take some more characters. */
const maxMessage = 1_000;

/** A failure. Its message may have a provider's text, and goes to conditions, Events, logs and CNI errors. */
export function failure(reason: ProviderFailure["reason"], message: string, pauseMs?: number): ProviderFailure {
  return { ok: false, reason, message: inertLine(message, maxMessage), ...(pauseMs === undefined ? {} : { pauseMs }) };
}
