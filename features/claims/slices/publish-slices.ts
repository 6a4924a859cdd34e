// Writes the node's ResourceSlices. A change of the devices writes once; without one, the API is looked at when the kubelet has registered the driver, after
// growing pauses, and then every ten minutes. A kubelet that starts removes all slices of its node, and while it does not reach the API it tries again after
// pauses that double: its removal may come long after the registration.

import type { ApiObjects, ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { shortHash } from "../../../host/system/ids.ts";
import { type OfferedDevice, publishedDevices } from "../rules/offered-devices.ts";
import { type SliceChange, sliceChanges, sliceSelector, slicesPath, type StoredSlice, storedSlice } from "../rules/slice.ts";
import { type TaintTimes, withTaintTimes } from "../rules/taint-times.ts";

/** The part of the API that the slices need. */
type SliceApi = Pick<ApiObjects, "get" | "list" | "create" | "replace" | "remove">;

/** Settings. */
export interface PublishInit {
  readonly nodeName: string;
  readonly api: () => Promise<SliceApi | undefined>;
  /** Looks at the node. */
  readonly look: () => readonly OfferedDevice[];
  /** Whether all is known that decides about the devices. */
  readonly isReady?: () => boolean;
  readonly log: (level: "info" | "warn", text: string) => void;
  readonly now: () => number;
}

/** Interval of looks at the node's links, in ms. */
export const lookMs = 2_000;
/** Time until the API is looked at again after a registration, in ms; each further pause is twice as long. */
const firstVerifyMs = 5_000;
/** Longest time until the API is looked at without a reason, in ms. */
export const verifyPauseMs = 600_000;
/** Pause after a failed write, in ms. */
const retryPauseMs = 10_000;

/** The publisher of one node. */
export class SlicePublisher {
  readonly #init: PublishInit;
  #timer: NodeJS.Timeout | undefined;
  #working = false;
  #stopped = false;
  #published = "";
  #dueAt = 0;
  #verifyMs = firstVerifyMs;
  /** Calls of `renew`: a call during a round makes the next round due. */
  #renewals = 0;
  #failure = "";
  #uid: string | undefined;
  /** The times in the slices that were written or seen last: a kubelet may remove the slices. */
  #taintTimes: TaintTimes = new Map();

  constructor(init: PublishInit) {
    this.#init = init;
  }

  /** The reason why the slices are not as they should be; empty if they are. */
  get failure(): string {
    return this.#failure;
  }

  start(): void {
    this.#timer = setInterval(() => void this.round(), lookMs);
    this.#timer.unref();
    void this.round();
  }

  /** Looks at the API with the next round. */
  renew(): void {
    this.#renewals += 1;
    this.#dueAt = 0;
    this.#verifyMs = firstVerifyMs;
    void this.round();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** Looks at the links, and writes what has changed. Never rejects. */
  async round(): Promise<void> {
    if (this.#working || this.#stopped || this.#init.isReady?.() === false) return;
    this.#working = true;
    try {
      const devices = publishedDevices(this.#init.look());
      const text = JSON.stringify(devices);
      const now = this.#init.now();
      if (text === this.#published && now < this.#dueAt) return;
      if (this.#failure !== "" && now < this.#dueAt) return;
      const renewals = this.#renewals;
      const failure = await this.#publish(devices, shortHash(text));
      const pauseMs = failure === undefined ? this.#verifyMs : retryPauseMs;
      if (failure === undefined) this.#verifyMs = Math.min(verifyPauseMs, 2 * this.#verifyMs);
      this.#dueAt = renewals === this.#renewals ? now + pauseMs : 0;
      this.#published = failure === undefined ? text : "";
      if (failure !== undefined && failure !== this.#failure)
        this.#init.log("warn", `claims: the node's ResourceSlices: ${failure}`);
      this.#failure = failure ?? "";
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      if (failure !== this.#failure) this.#init.log("warn", `claims: the node's links: ${failure}`);
      this.#failure = failure;
      // Otherwise the next try would wait until the API is looked at without a reason.
      this.#published = "";
      this.#dueAt = this.#init.now() + retryPauseMs;
    } finally {
      this.#working = false;
    }
  }

  async #publish(devices: readonly object[], checksum: string): Promise<string | undefined> {
    const { nodeName, log } = this.#init;
    const api = await this.#init.api();
    if (api === undefined) return "plexusd has no credentials of the Kubernetes API (--kubeconfig)";
    this.#uid = uidOf(await api.get(`/api/v1/nodes/${nodeName}`)) ?? this.#uid;
    const listed = await api.list(slicesPath, { fieldSelector: sliceSelector(nodeName) });
    if (listed.kind !== "list") return listed.why;
    const stored = listed.items.flatMap((item) => storedSlice(item, nodeName) ?? []);
    const timed = withTaintTimes(devices, new Map([...this.#taintTimes, ...timesIn(stored)]));
    const changes = sliceChanges({ node: nodeName, uid: this.#uid }, timed, checksum, stored);
    const written: StoredSlice[] = [];
    for (const change of changes) {
      const answer = await send(api, change);
      if (answer.kind !== "object" && !(change.kind === "remove" && answer.kind === "absent")) return answer.why;
      const slice = change.kind !== "remove" && answer.kind === "object" ? storedSlice(answer.object, nodeName) : undefined;
      if (slice !== undefined) written.push(slice);
    }
    this.#taintTimes = timesIn(changes.length === 0 ? stored : written);
    if (changes.length > 0)
      log("info", `claims: the node offers ${devices.length} devices in ${changes.length} changed ResourceSlices`);
    return undefined;
  }
}

function timesIn(slices: readonly StoredSlice[]): TaintTimes {
  return new Map(slices.flatMap(({ taintTimes }) => [...taintTimes]));
}

function send(api: SliceApi, change: SliceChange): Promise<ObjectAnswer> {
  switch (change.kind) {
    case "create":
      return api.create(slicesPath, change.object);
    case "replace":
      return api.replace(`${slicesPath}/${change.name}`, change.object);
    case "remove":
      return api.remove(`${slicesPath}/${change.name}`);
    default:
      return change satisfies never;
  }
}

function uidOf(answer: ObjectAnswer): string | undefined {
  const metadata = answer.kind === "object" ? answer.object["metadata"] : undefined;
  const uid = isJsonObject(metadata) ? metadata["uid"] : undefined;
  return typeof uid === "string" ? uid : undefined;
}
