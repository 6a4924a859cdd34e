// The DaemonSet of a daemon that runs as a pod, as the API knows it when the daemon starts and when it is stopped.

import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { decideFate, type Fate, type FateAnswer, fitOf, metadataOf } from "../../../src/kube/own-fate.ts";
import type { ApiRequest } from "./api-request.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";

/** The DaemonSet, and how to ask the API. */
export interface OwnDaemonSetInit {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string | undefined;
  /** The name of the daemon's pod; undefined if unknown. */
  readonly podName: string | undefined;
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  readonly warn: (text: string) => void;
  /** Waits for milliseconds. */
  readonly sleep: (ms: number) => Promise<unknown>;
}

/** The identity `UID/GENERATION`. It differs between two DaemonSets of one name, and between a pod template and its successor. */
export type DaemonSetIdentity = string;

/** Pause between attempts to learn the UID, and time limit of one attempt, in ms. */
const pauseMs = 10_000;
const attemptMs = 3_000;
/** Pause before the API is asked again after an answer that may be temporary, in ms. */
const retryPauseMs = 300;

/** The DaemonSet of one daemon. */
export class OwnDaemonSet {
  readonly #init: OwnDaemonSetInit;
  #uid: string | undefined;
  #stopped = false;

  constructor(init: OwnDaemonSetInit) {
    this.#init = init;
  }

  /**
   * Learns the UID, as often as necessary. Resolves with the identity; undefined after `fate`. A refusal is warned of once, because the stop of such a
   * daemon would count as a removal of Plexus. It may be temporary: a server that has just started refuses rights that it has not read yet.
   */
  async learn(): Promise<DaemonSetIdentity | undefined> {
    const { namespace, name, warn } = this.#init;
    let isWarned = false;
    while (!this.#stopped && this.#uid === undefined) {
      const answer = await this.#get(this.#path, attemptMs);
      if (answer !== undefined && !isWarned && [401, 403, 404].includes(answer.status)) {
        isWarned = true;
        const remedy = "check the environment variables DAEMONSET and POD_NAMESPACE, and the rights of the service account";
        warn(
          `DaemonSet ${namespace}/${name}: HTTP ${answer.status}. When this daemon stops, its network configuration is removed. To do: ${remedy}`,
        );
      }
      const { uid, generation } = metadataOf(answer?.status === 200 ? answer.object : undefined);
      if (typeof uid === "string") {
        this.#uid = uid;
        return `${uid}/${String(generation)}`;
      }
      await this.#init.sleep(pauseMs);
    }
    return undefined;
  }

  /** The runtime's name and version as the Node object has them (`containerd://2.0.0`); undefined if unknown. */
  async runtime(): Promise<string | undefined> {
    const { nodeName } = this.#init;
    const node = nodeName === undefined ? undefined : await this.#get(`/api/v1/nodes/${nodeName}`, attemptMs);
    let value: unknown = node?.status === 200 ? node.object : undefined;
    for (const key of ["status", "nodeInfo", "containerRuntimeVersion"]) value = isJsonObject(value) ? value[key] : undefined;
    return typeof value === "string" ? value : undefined;
  }

  /**
   * Whether the DaemonSet remains after this daemon; asks the API for at most `budgetMs`. The last answer counts: an attempt with little time left
   * often gets none, and would make a refusal look like an API that is away.
   */
  async fate(budgetMs: number): Promise<Fate> {
    this.#stopped = true;
    let answered: Fate | undefined;
    const { namespace, nodeName, podName } = this.#init;
    const { now } = this.#init.connection.clock;
    const end = now() + budgetMs;
    const left = (): number => Math.max(1, end - now());
    for (;;) {
      const [daemonSet, space] = await Promise.all([
        this.#get(this.#path, left()),
        this.#get(`/api/v1/namespaces/${namespace}`, left(), true),
      ]);
      const asksNode = daemonSet !== undefined && nodeName !== undefined;
      const node = asksNode ? await this.#get(`/api/v1/nodes/${nodeName}`, left()) : undefined;
      const asksPod = podName !== undefined && fitOf({ daemonSet, node }).kind === "only-running";
      const pod = asksPod ? await this.#get(`/api/v1/namespaces/${namespace}/pods/${podName}`, left(), true) : undefined;
      const fate = decideFate({ daemonSet, namespace: space, node, pod, uid: this.#uid });
      if (daemonSet !== undefined) answered = fate;
      if (fate.isFinal) return fate;
      if (left() <= retryPauseMs) return answered ?? fate;
      await this.#init.sleep(retryPauseMs);
    }
  }

  get #path(): string {
    return `/apis/apps/v1/namespaces/${this.#init.namespace}/daemonsets/${this.#init.name}`;
  }

  /** One request; undefined without an answer. */
  async #get(path: string, timeoutMs: number, metadataOnly = false): Promise<FateAnswer> {
    const credentials = await this.#init.credentials();
    if (!credentials.ok) return undefined;
    const request: ApiRequest = { method: "GET", path, metadataOnly };
    const outcome = await this.#init.connection.request(credentials.value, request, timeoutMs);
    if (outcome.kind !== "answer") return undefined;
    const body = parseDocument(outcome.body, { what: path, kind: "API_REFUSED" });
    // An answer that is no object of the API, such as that of a proxy, decides nothing.
    if (!body.ok || !isJsonObject(body.value.parsed) || typeof body.value.parsed["kind"] !== "string") return undefined;
    return { status: outcome.status, object: body.value.parsed };
  }
}
