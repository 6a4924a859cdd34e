// The part of an optional feature that works in the daemon all the time, beside the calls of runtimes.

import type { HostConfiguration } from "../src/configuration/host-configuration.ts";
import type { Pod } from "../src/npwg/pod.ts";
import type { TakeLock } from "../host/store/locks/file-lock.ts";
import type { Metrics } from "../host/telemetry/metrics/metrics.ts";
import type { InterfaceChanges } from "../host/node/container-changes.ts";
import type { RoundAgent } from "../host/node/reconcile/clean.ts";

/** The parts of the daemon that it uses. */
export interface ResidentInit {
  /** The state directories (`cniDir`) whose containers may be changed. */
  readonly directories: readonly string[];
  /** The agent that is connected now. */
  readonly agent: () => RoundAgent | undefined;
  readonly takeLock: TakeLock;
  readonly metrics: Metrics;
  /** Begins to report changes of pods in the source that the configuration names; `onManifests` follows a change of its directory of manifests. */
  readonly watch: (configuration: HostConfiguration, onManifests: () => void) => Promise<void>;
  readonly log: (level: "info" | "warn", text: string) => void;
}

/** The part. */
export interface ResidentPart {
  /** The state in one line, for the status. */
  readonly sentence: string;
  /** Begins, once the daemon serves. */
  readonly start: () => Promise<void>;
  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  readonly stop: (maxMs: number) => Promise<void>;
  /** An agent has connected. */
  readonly agentConnected: () => void;
  /** A call of a runtime has ended. */
  readonly noteCall: (configuration: HostConfiguration, environment: ReadonlyMap<string, string>) => void;
  /** A watched pod was listed, created, changed or removed (undefined). */
  readonly podChanged: (namespace: string, name: string, pod: Pod | undefined) => void;
  /** The changes of running containers, if the part makes any. */
  readonly changes?: InterfaceChanges;
}

/** A feature's description of its part in the daemon. */
export interface ResidentFeature {
  /** The part's name in the status document. */
  readonly name: string;
  readonly make: (init: ResidentInit) => Promise<ResidentPart>;
}
