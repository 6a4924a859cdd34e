// The DaemonSet of a daemon that runs as a pod, as the API knows it when the daemon starts and when it is stopped.

import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { decideFate, type Fate, type FateAnswer, metadataOf, selectorOf } from "../../../src/kube/own-fate.ts";
import type { ApiRequest } from "./api-request.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";

/** The DaemonSet, and how to ask the API. */
export interface OwnDaemonSetInit {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string | undefined;
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  readonly warn: (text: string) => void;
}

/** Pause between attempts to learn the UID, and time limit of one attempt, in ms. */
const learnPauseMs = 10_000;
const attemptMs = 3_000;
/** Pause before the API is asked again after an answer that may be temporary, in ms. */
const troublePauseMs = 300;

/** The DaemonSet of one daemon. */
export class OwnDaemonSet {
  readonly #init: OwnDaemonSetInit;
  #uid: string | undefined;
  #stopped = false;

  constructor(init: OwnDaemonSetInit) {
    this.#init = init;
  }

  /** Learns the UID, as often as necessary. A refusal is warned of: the stop of such a daemon would count as a removal of Plexus. */
  async learn(): Promise<void> {
    const { namespace, name, warn } = this.#init;
    while (!this.#stopped && this.#uid === undefined) {
      const answer = await this.#get(this.#path, attemptMs);
      if (answer !== undefined && [401, 403, 404].includes(answer.status)) {
        const remedy = "check the environment variables DAEMONSET and POD_NAMESPACE, and the rights of the service account";
        warn(
          `DaemonSet ${namespace}/${name}: HTTP ${answer.status}. When this daemon stops, its network configuration is removed. To do: ${remedy}`,
        );
        return;
      }
      const uid = answer?.status === 200 ? metadataOf(answer.object)["uid"] : undefined;
      if (typeof uid === "string") this.#uid = uid;
      else await pause(learnPauseMs);
    }
  }

  /** Whether the DaemonSet remains after this daemon; asks the API for at most `budgetMs`. */
  async fate(budgetMs: number): Promise<Fate> {
    this.#stopped = true;
    const { namespace, nodeName } = this.#init;
    const end = performance.now() + budgetMs;
    const left = (): number => Math.max(1, end - performance.now());
    for (;;) {
      const [daemonSet, space] = await Promise.all([
        this.#get(this.#path, left()),
        this.#get(`/api/v1/namespaces/${namespace}`, left(), true),
      ]);
      const selects = daemonSet !== undefined && Object.keys(selectorOf(daemonSet.object)).length > 0;
      const asksNode = selects && nodeName !== undefined;
      const node = asksNode ? await this.#get(`/api/v1/nodes/${nodeName}`, left(), true) : undefined;
      const fate = decideFate({ daemonSet, namespace: space, node, uid: this.#uid });
      if (fate.isFinal || left() <= troublePauseMs) return fate;
      await pause(troublePauseMs);
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
