// Reads and writes single objects of the API for a program that runs for long: one attempt each, with its outcome as data. The caller repeats by
// its own rules, because a repeated write needs the object's newer state.

import type { ApiRequest, Outcome } from "./api-request.ts";
import { foreignAbsence, statusMessage } from "./api-client.ts";
import { CollectionList } from "./collection-list.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";
import type { Clock } from "../../system/clock.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { isAbsence } from "../../../src/kube/absence.ts";
import { serverPauseMs } from "../../../src/kube/backoff.ts";

/** A JSON object of the API, as it was received. */
export type ApiObject = Readonly<Record<string, unknown>>;

/** The outcome of a request for an object. */
export type ObjectAnswer =
  | { readonly kind: "object"; readonly object: ApiObject }
  /** 404: the object, or its collection, does not exist. */
  | { readonly kind: "absent"; readonly why: string }
  /** 409: the object exists already, has another version, or another UID. */
  | { readonly kind: "conflict"; readonly why: string }
  /** Another refusal, which a repetition does not change: an invalid object, missing rights, a policy. */
  | { readonly kind: "refused"; readonly status: number; readonly why: string }
  /** No answer, or a refusal that may be temporary. */
  | { readonly kind: "failed"; readonly why: string; readonly pauseMs: number | undefined };

/** The reason why there is no list. */
export type NoList = Extract<ObjectAnswer, { readonly kind: "absent" | "failed" }>;

/** The outcome of a list. */
export type ListAnswer = { readonly kind: "list"; readonly items: readonly unknown[] } | NoList;

/** The selection of a list, and the form of its objects. */
export interface CollectionForm {
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>;
  readonly metadataOnly?: boolean;
  /** Whether the server's cache may answer, whose objects may be old. By default, the answer has all that was written before the request. */
  readonly cached?: boolean;
}

/** Conditions on an object, without which a DELETE does nothing. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A request that has ended. */
export interface SentRequest {
  readonly method: string;
  /** Without selectors. */
  readonly path: string;
  readonly ms: number;
  /** Why there is no usable answer; undefined if there is one. A missing object is an answer. */
  readonly failure: string | undefined;
}

/** Settings of the client. */
export interface ApiObjectsInit {
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  /** Time limit of one request in ms; default 10 s. */
  readonly requestMs?: number;
  /** Called after each request, in the asynchronous context of its sender. A list counts as one request. */
  readonly onRequest?: (request: SentRequest) => void;
}

/** Sockets of a connection for a program that works on several objects at once. */
export const objectSockets = 8;
/** Objects in a page of a list. */
const pageSize = 500;
const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  /** Merges lists of built-in kinds by their key, such as a pod's conditions by their type. */
  strategic: "application/strategic-merge-patch+json",
} as const;

/** Reads single objects. */
export interface ObjectReader {
  /** The object at `path`. */
  get(path: string): Promise<ObjectAnswer>;
}

/** Creates objects. */
export interface ObjectCreator {
  /** Creates an object in the collection at `path`; `conflict` if one of its name exists. */
  create(path: string, object: ApiObject): Promise<ObjectAnswer>;
}

/** The client. */
export class ApiObjects implements ObjectReader, ObjectCreator {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  readonly #requestMs: number;
  readonly #onRequest: ApiObjectsInit["onRequest"];

  constructor({ credentials, connection, requestMs = 10_000, onRequest }: ApiObjectsInit) {
    this.credentials = credentials;
    this.connection = connection;
    this.#requestMs = requestMs;
    this.#onRequest = onRequest;
  }

  get(path: string): Promise<ObjectAnswer> {
    return this.#send({ method: "GET", path });
  }

  /** Creates an object in the collection at `path`; `conflict` if one of its name exists. */
  create(path: string, object: ApiObject): Promise<ObjectAnswer> {
    return this.#send({ method: "POST", path, body: JSON.stringify(object) });
  }

  /** Replaces an object. Its `metadata.resourceVersion` makes a concurrent change a `conflict`. */
  replace(path: string, object: ApiObject): Promise<ObjectAnswer> {
    return this.#send({ method: "PUT", path, body: JSON.stringify(object) });
  }

  /** Patches an object. A `metadata.resourceVersion` in a merge patch makes a concurrent change a `conflict`. */
  patch(path: string, patch: unknown, type: keyof typeof patchTypes = "merge"): Promise<ObjectAnswer> {
    return this.#send({ method: "PATCH", path, contentType: patchTypes[type], body: JSON.stringify(patch) });
  }

  /** Deletes an object if the preconditions hold; `conflict` if they do not. */
  remove(path: string, preconditions: Preconditions = {}): Promise<ObjectAnswer> {
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", preconditions });
    return this.#send({ method: "DELETE", path, body });
  }

  /** All objects of a collection as the API's store has them now (not its cache). Takes memory for all of them: see `each`. */
  async list(
    path: string,
    query: Readonly<Record<string, string>> = {},
    form: Omit<CollectionForm, "query"> = {},
  ): Promise<ListAnswer> {
    const items: unknown[] = [];
    const read = await this.each(path, { ...form, query }, (item) => items.push(item) > 0);
    return read.kind === "read" ? { kind: "list", items } : read;
  }

  /**
   * Passes the objects of a collection, as the API's store has them now, page by page to `take`, until it answers false. Only one page is in
   * memory at a time.
   */
  async each(
    path: string,
    { query = {}, metadataOnly = false, cached = false }: CollectionForm,
    take: (item: unknown) => boolean,
  ): Promise<{ readonly kind: "read" } | NoList> {
    const { connection, credentials } = this;
    const url = (page: Readonly<Record<string, string>>): string =>
      `${path}?${new URLSearchParams({ ...query, ...page }).toString()}`;
    const list = new CollectionList({ connection, credentials, url, metadataOnly, consistent: !cached, pageSize });
    const began = connection.clock.now();
    const listed = await list.all("0", take);
    const failure = listed.kind === "failed" && listed.absent !== true ? listed.why : undefined;
    this.#onRequest?.({ method: "GET", path, ms: connection.clock.now() - began, failure });
    if (listed.kind === "listed") return { kind: "read" };
    if (listed.kind === "relist") return { kind: "failed", why: "the list expired while it was read", pauseMs: undefined };
    const { why, pauseMs, absent } = listed;
    return absent === true ? { kind: "absent", why } : { kind: "failed", why, pauseMs };
  }

  close(): void {
    this.connection.close();
  }

  async #send(request: ApiRequest): Promise<ObjectAnswer> {
    const { clock } = this.connection;
    const began = clock.now();
    const outcome = await this.#outcome(request);
    const answer: ObjectAnswer =
      typeof outcome === "string" ? { kind: "failed", why: outcome, pauseMs: undefined } : answerOf(outcome, clock);
    const failure = answer.kind === "object" || answer.kind === "absent" ? undefined : answer.why;
    this.#onRequest?.({ method: request.method, path: request.path, ms: clock.now() - began, failure });
    return answer;
  }

  async #outcome(request: ApiRequest): Promise<Outcome | string> {
    const current = await this.credentials();
    return current.ok ? this.connection.request(current.value, request, this.#requestMs) : current.fault.msg;
  }
}

function answerOf(outcome: Outcome, { date }: Clock): ObjectAnswer {
  if (outcome.kind !== "answer") return { kind: "failed", why: outcome.why, pauseMs: undefined };
  const { status, body, retryAfter } = outcome;
  if (status >= 200 && status < 300) {
    const document = parseDocument(body, { what: "the answer", kind: "API_REFUSED" });
    if (document.ok && isJsonObject(document.value.parsed)) return { kind: "object", object: document.value.parsed };
    return { kind: "failed", why: "the answer is not an object", pauseMs: undefined };
  }
  const why = `HTTP ${status}${statusMessage(body)}`;
  if (status === 404)
    return isAbsence(body) ? { kind: "absent", why } : { kind: "failed", why: `${why} (${foreignAbsence})`, pauseMs: undefined };
  if (status === 409) return { kind: "conflict", why };
  if (status === 408 || status === 425 || status === 429 || status >= 500 || status === 401) {
    return { kind: "failed", why, pauseMs: serverPauseMs(retryAfter, Date.parse, date().getTime()) };
  }
  return { kind: "refused", status, why };
}
