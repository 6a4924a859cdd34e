// The lab of one check sends requests to the provider, keeps the answers' times, and releases the check's ports at its end.

import { randomUUID } from "node:crypto";
import type { ProvidedPort } from "../rules/provided-port.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { maxListBytes, readBounded } from "../controller/json-client.ts";
import { isOwnedPort, type OwnedPort, type PortRequest } from "../controller/provider.ts";
import { type Answer, described, isDone, portOf } from "./answer.ts";
import { Skip } from "./verdict.ts";
import { objectIn } from "../rules/values.ts";

/** The provider under test. */
export interface LabInit {
  /** Base of the four paths. */
  readonly url: string;
  readonly owner: string;
  /** The bearer token; undefined: the provider asks for none. */
  readonly token: string | undefined;
  /** Parameters of a valid definition. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters that the provider must refuse. */
  readonly forbidden: readonly Readonly<Record<string, unknown>>[];
  readonly nodeName: string;
  /** Ports that a check makes at most. */
  readonly ports: number;
  /** Time limit of an answer in ms. */
  readonly answerMs: number;
  /** Milliseconds of a monotonic clock. Default: that of the process. */
  readonly now?: () => number;
}

/** A request in any form. */
export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  /** Another token than the provider's; empty: none. */
  readonly token?: string;
}

/** The namespace of all keys. */
export const conformanceNamespace = "plexus-conformance";

/** The lab of one run. */
export class Lab {
  readonly init: LabInit;
  readonly #base: string;
  readonly #now: () => number;
  /** Keys of the running check that may have a port, with its providerId. */
  readonly #used = new Map<string, string>();
  /** Keys whose release failed. */
  readonly #unreleased = new Map<string, string>();
  /** Pods of this run, by which its ports are known in a list. */
  readonly #pods = new Set<string>();
  /** Requests without an answer since the last answer. */
  #unanswered = 0;
  /** Answers after the time limit. */
  #late = 0;
  /** The slowest answer of each operation in ms. */
  readonly slowest = new Map<string, number>();

  constructor(init: LabInit) {
    this.init = init;
    this.#now = init.now ?? systemClock.now;
    this.#base = init.url.replace(/\/$/, "");
  }

  /** Keys of ports that do not exist: those of one new pod. */
  newKeys(count: number, namespace = conformanceNamespace): readonly string[] {
    const pod = randomUUID();
    this.#pods.add(pod);
    return Array.from({ length: count }, (_, index) => `${namespace}/${pod}-${index}`);
  }

  /** One such key. */
  newKey(): string {
    return this.newKeys(1)[0] ?? "";
  }

  /** The request of a port. */
  request(key: string, changes: Partial<PortRequest> = {}): PortRequest {
    const [namespace = "", name = ""] = key.split("/");
    const { nodeName, parameters } = this.init;
    const pod = { namespace, name: "conformance", uid: name.replace(/-\d+$/, "") };
    return { key, pod, nodeName, parameters, requested: {}, ...changes };
  }

  /** Sends one operation. */
  call(operation: string, body: object): Promise<Answer> {
    return this.send({ path: `/v1/${operation}`, body: JSON.stringify({ owner: this.init.owner, ...body }) });
  }

  /** Asks for a port. The lab releases it later. */
  async ensure(key: string, changes: Partial<PortRequest> = {}): Promise<Answer> {
    this.#used.set(key, this.#used.get(key) ?? "");
    const answer = await this.call("ensure", { request: this.request(key, changes) });
    const port = portOf(answer);
    if (typeof port !== "string") this.#used.set(key, port.providerId);
    return answer;
  }

  /** Throws a Skip unless the provider makes ports, so that a check of something else does not report that. */
  async demandPorts(): Promise<void> {
    const key = this.newKey();
    const { providerId } = await this.port(key);
    await this.release({ key, providerId });
  }

  /** A port that the check needs. Throws a Skip if the provider does not make it: check ENS-1 reports that. */
  async port(key: string, changes: Partial<PortRequest> = {}): Promise<ProvidedPort> {
    const port = portOf(await this.ensure(key, changes));
    if (typeof port === "string") throw new Skip(`the check needs a port, but after ensure ${port}`);
    return port;
  }

  /** Releases a port. */
  release(port: OwnedPort): Promise<Answer> {
    return this.call("release", { port });
  }

  /** The ports of this run that the provider lists. Throws a Skip if it lists none in the documented form: check LST-1 reports that. */
  async listed(owner = this.init.owner): Promise<readonly OwnedPort[]> {
    const ports = portsOf(await this.call("list", { owner }));
    if (typeof ports === "string") throw new Skip(`the check needs a list, but ${ports}`);
    return ports.filter(({ key }) => this.#pods.has(key.slice(key.indexOf("/") + 1).replace(/-\d+$/, "")));
  }

  /** Whether the provider lists a port of this key. */
  async isListed(key: string): Promise<boolean> {
    return (await this.listed()).some((port) => port.key === key);
  }

  /** Sends a request in any form. An answer that is too late is awaited, so that only the check of times fails. */
  async send({ method = "POST", path, body, token = this.init.token ?? "" }: RawRequest): Promise<Answer> {
    const started = this.#now();
    const ended = (answer: Answer): Answer => {
      const ms = this.#now() - started;
      this.slowest.set(path, Math.max(ms, this.slowest.get(path) ?? 0));
      if (ms >= this.init.answerMs) this.#late += 1;
      this.#unanswered = answer.status === 0 ? this.#unanswered + 1 : 0;
      return answer;
    };
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body }),
        redirect: "error",
        signal: AbortSignal.timeout(this.init.answerMs * 3),
      });
      return ended({ status: response.status, body: objectIn(await readBounded(response, maxListBytes)), why: "" });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      return ended({ status: 0, body: undefined, why: `${error instanceof Error ? error.message : String(error)}${cause}` });
    }
  }

  /** Why further checks would only wait; undefined: the provider answers. */
  reasonToStop(): string | undefined {
    if (this.#unanswered >= maxUnanswered) return "the provider does not answer any more";
    return this.#late >= maxLate ? "the provider is too slow" : undefined;
  }

  /** Releases the ports of the check that ended. */
  async releaseUsed(): Promise<void> {
    for (const [key, providerId] of this.#used) {
      if (this.#unanswered >= maxUnanswered || !isDone(await this.release({ key, providerId })))
        this.#unreleased.set(key, providerId);
    }
    this.#used.clear();
  }

  /** Releases what the run has left, by the provider's list. Answers the ports that may remain. */
  async releaseAll(): Promise<readonly OwnedPort[]> {
    const known = [...this.#unreleased].map(([key, providerId]) => ({ key, providerId }));
    if (this.#unanswered >= maxUnanswered) return known;
    const left = async (): Promise<readonly OwnedPort[] | undefined> => this.listed().catch(() => undefined);
    for (const port of (await left()) ?? known) await this.release(port);
    return (await left()) ?? known;
  }
}

/** Requests without an answer, one after the other, after which a run ends. */
const maxUnanswered = 4;
/** Late answers after which a run ends: each takes as long as plexus-controller waits, or longer. */
const maxLate = 8;

/** The ports of an answer to `list`, or the problem. */
export function portsOf(answer: Answer): readonly OwnedPort[] | string {
  if (!isDone(answer)) return described(answer);
  const ports = answer.body?.["ports"];
  if (!Array.isArray(ports)) return "ports is no list";
  return ports.every(isOwnedPort) ? ports : "ports has an element without key and providerId";
}
