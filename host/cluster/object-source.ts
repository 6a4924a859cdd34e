// A feature's objects in the Kubernetes API: one call reads them, and a daemon can hold a watched copy.

import type { ApiClient } from "./kube/api-client.ts";
import type { CredentialSource } from "./kube/credentials.ts";
import type { Connection } from "./kube/connection.ts";
import type { ReflectorState } from "./kube/reflector.ts";

/** Sends requests to the Kubernetes API. */
export interface ApiCaller {
  readonly call: ApiClient["call"];
}

/** Requests of one call to the Kubernetes API, with the call's time for them. */
export interface ClusterApi extends ApiCaller {
  readonly pause: ApiClient["pause"];
}

/** The connection of a watch, and the receiver of its warnings. */
export interface WatchAccess {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  readonly warn: (text: string) => void;
}

/** A daemon's copy of the objects. */
export interface WatchedObjects<T> {
  /** The states of the watches; empty before the first look. */
  readonly states: readonly ReflectorState[];
  /** `source`, with objects of the copy answered from memory. */
  over(source: T): T;
  /** The credentials have changed. */
  readonly renew: () => void;
  readonly stop: () => void;
}

/** The ways to the objects. A daemon keeps one copy for each source and API server, so a source is one constant. */
export interface ObjectSource<T> {
  readonly read: (api: ClusterApi) => T;
  /** Makes the copy. `count` is called for each look: whether the memory answered it. */
  readonly watch: (access: WatchAccess, count: (held: boolean) => void) => Promise<WatchedObjects<T>>;
}
