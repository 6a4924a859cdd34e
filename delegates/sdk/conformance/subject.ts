// The plugin under test, and the node on which the checks call it: simulated for a component, namespaces of the kernel for a program.

import type { RunVerb } from "../program/request-input.ts";
import type { SubjectKind } from "./check.ts";
import type { Setup } from "./setup.ts";

/** One execution of the plugin, as a runtime makes it. */
export interface Execution {
  readonly verb: RunVerb | (string & {});
  /** The `CNI_*` variables besides `CNI_COMMAND` and `CNI_PATH`. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** The end of an execution. */
export interface Reply {
  /** The exit status; 255 for a program that a signal or the time limit ended. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether a process kept stdout open after the plugin's exit. */
  readonly heldStdout: boolean;
}

/**
 * The state that plugins change, by key: `link pod eth0`, `address pod eth0 10.1.0.5/24`, `route pod eth0 0.0.0.0/0`, `sysctl net/…`,
 * `lease 10.1.0.5`, `rules …`, `file …`, `link host veth0`. The first word is the kind.
 */
export type State = ReadonlyMap<string, string>;

/** A kind of state that the kit can restore, behind the plugin's back. */
export type StateKind = "link" | "address" | "route" | "sysctl" | "lease" | "rules" | "attribute";

/** A call that the plugin made to the kit's own IPAM plugin. */
export interface IpamCall {
  readonly verb: string;
  readonly env: Readonly<Record<string, string>>;
  /** The configuration. For a component: undefined where it passed on its own. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

/** A fresh node for one check. */
export interface TestNode {
  /** The directory that `$STATE` in a configuration means. */
  readonly stateDirectory: string;
  /** The directory that `$RUN` in a configuration means. */
  readonly runDirectory: string;
  /** Makes a pod's network namespace with the links of the set-up. Answers its path. */
  makePod(): Promise<string>;
  /** Removes a pod's namespace. */
  removePod(netns: string): Promise<void>;
  execute(execution: Execution): Promise<Reply>;
  /** Executes all at once. Throws a Skip if calls cannot overlap here. */
  executeAtOnce(executions: readonly Execution[]): Promise<readonly Reply[]>;
  state(netns: string): Promise<State>;
  /** Undoes each change of this kind since `before`. */
  restore(netns: string, kind: StateKind, before: State, now: State): Promise<void>;
  /** The calls of the kit's IPAM plugin so far. */
  ipamCalls(): Promise<readonly IpamCall[]>;
  /** The kit's IPAM plugin answers this verb with an error from now on. */
  failIpam(verb: string): Promise<void>;
  dispose(): Promise<void>;
}

/** A plugin under test. */
export interface Subject {
  readonly kind: SubjectKind;
  /** The plugin type: the name of its file. */
  readonly type: string;
  /** Makes a node. Throws a Skip if the machine cannot make the namespaces that the plugin needs. */
  openNode(setup: Setup): Promise<TestNode>;
}
