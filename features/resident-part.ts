// The part of an optional feature that works in the daemon all the time, beside the calls of runtimes.

import type { ParseArgsOptionsConfig } from "node:util";
import type { HostConfiguration } from "../src/configuration/host-configuration.ts";
import type { Result } from "../src/fault/result.ts";
import type { Pod } from "../src/npwg/pod.ts";
import type { Connection } from "../host/cluster/kube/connection.ts";
import type { CredentialSource } from "../host/cluster/kube/credentials.ts";
import type { RecordCall } from "../host/engine/events/call-events.ts";
import type { OptionValues } from "../host/node/command-line/option-values.ts";
import type { InterfaceChanges } from "./container-changes.ts";
import type { JudgeEchoes } from "../src/kube/packet-judge.ts";
import type { FindEndpoints } from "../src/kube/service-endpoints.ts";
import type { ResidentNode } from "../host/node/resident-node.ts";
import type { PluginAnswer } from "../host/protocol/messages.ts";
import type { JournalKey } from "../host/store/journal/entry-file.ts";
import type { Metrics } from "../host/telemetry/metrics/metrics.ts";
import type { Page } from "../host/telemetry/page-server.ts";

/** The daemon of a part: what it has for its life. */
export interface ResidentContext extends ResidentNode {
  /** The node's name in the Kubernetes API; undefined if unknown. */
  readonly nodeName: string | undefined;
  /** The daemon's own state directory. */
  readonly stateDirectory: string;
  /** The user ids that may use the daemon's sockets. */
  readonly uids: readonly number[];
  readonly metrics: Metrics;
  /** The API server that is watched from the start; undefined if there is none. */
  readonly apiFromStart: () => Promise<{ readonly connection: Connection; readonly credentials: CredentialSource } | undefined>;
  /** Serves a STATUS whose configuration was made for it, through the agent; undefined if none is connected. */
  readonly serveStatus: (stdin: string) => Promise<{ readonly status: number; readonly stdout: string | Uint8Array } | undefined>;
  /** Changes running containers, by the feature that can. */
  readonly changes: () => InterfaceChanges;
  /** Tells the other parts what was found of the links of a container. */
  readonly linksSeen: (seen: SeenLinks) => void;
  /** Judges echo requests by the policies of pods; undefined: no part has policies. */
  readonly judge: () => JudgeEchoes | undefined;
  /** Finds the endpoints behind an address of a Service; undefined: no part has Services. */
  readonly endpoints: () => FindEndpoints | undefined;
}

/** The state of a running container's further links. */
export interface SeenLinks {
  readonly stateDirectory: string;
  readonly key: JournalKey;
  /** The reasons why links are not as their ADD left them, by interface; a link that is as it should be has none. */
  readonly faults: ReadonlyMap<string, { readonly why: string }>;
}

/** The part. The daemon calls what the part has. */
export interface ResidentPart {
  /** The state in one line, for the status. */
  readonly sentence?: string;
  /** Listens on the part's sockets, before the first call is served. Fault DAEMON_SOCKET. */
  readonly listen?: () => Promise<Result<void>>;
  /** Begins, once the daemon serves. */
  readonly start?: () => Promise<void>;
  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  readonly stop?: (maxMs: number) => Promise<void>;
  /** Closes the part's sockets and watches, after the last call. */
  readonly close?: () => void;
  /** An agent has connected. */
  readonly agentConnected?: () => void;
  /** The configuration key that switches the part on. `noteCall` then misses ADDs without the key, unless the call before with this configuration's name had it. */
  readonly key?: keyof HostConfiguration;
  /**
   * A call of a runtime has ended. `configuration`: the one that the runtime has now, although it may have sent a CHECK or a DEL with an earlier one. `reply`: its
   * answer; undefined if the runtime's shim was gone before.
   */
  readonly noteCall?: (
    configuration: HostConfiguration,
    environment: ReadonlyMap<string, string>,
    reply: PluginAnswer | undefined,
  ) => void;
  /** Links of a running container were found changed: lost, mended, or attached again. */
  readonly linksSeen?: (seen: SeenLinks) => void;
  /** A watched pod was listed, created, changed or removed (undefined). */
  readonly podChanged?: (namespace: string, name: string, pod: Pod | undefined) => void;
  /** Records a call that a client of the daemon has asked for. */
  readonly recordCall?: RecordCall;
  /** The answers to requests on the status socket, by path. */
  readonly pages?: Readonly<Record<string, (method: string, query: string) => Page | Promise<Page>>>;
  /** The changes of running containers, if the part makes any. */
  readonly changes?: InterfaceChanges;
  /** Judges echo requests by the policies of pods, if the part has any. */
  readonly judge?: JudgeEchoes;
  /** Finds the endpoints behind an address of a Service, if the part has any. */
  readonly endpoints?: FindEndpoints;
}

/** A part that the daemon's options switch on. */
export interface ResidentSettings {
  /** The part's name in the status document; undefined: the status does not name the part. */
  readonly statusName?: string;
  /** The paths of the sockets on which the part listens. */
  readonly sockets: readonly string[];
  /** The paths of other programs' sockets to which the part connects, in directories that root alone may use. */
  readonly connects?: readonly string[];
  /** Directories that the part writes beside other programs. */
  readonly directories?: readonly string[];
  readonly make: (context: ResidentContext) => Promise<ResidentPart>;
}

/** A feature's description of its part in the daemon. */
export interface ResidentFeature {
  readonly options: ParseArgsOptionsConfig;
  /** The options' lines of the help text, which ends with a line break; empty for a part without options. */
  readonly usage: string;
  /** Reads the options; undefined: the part is off. Throws an Error whose message names the option and the accepted form. */
  readonly read: (values: OptionValues) => ResidentSettings | undefined;
}
