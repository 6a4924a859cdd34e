// The messages between shim and engine (host/shim/PROTOCOL.md).

import type { NamespaceOutcome, NetlinkExchange } from "../system/netlink/exchange.ts";
import type { Environment, FieldBytes } from "./fields.ts";

/** A runtime's call (channel 0), or a nested call of a running plugin (a nested channel). */
export interface Request {
  readonly kind: "request";
  /** The name under which the shim was called: `plexus`, or a delegate's in a nested call. */
  readonly name: string;
  readonly environment: Environment;
  readonly stdin: Uint8Array;
  /** Channel of the EXEC whose plugin makes the nested call; 0 for a runtime's call. */
  readonly under: number;
}

/** The greeting of an agent, which carries out the effects that the daemon starts on its own. */
export interface AgentGreeting {
  readonly kind: "agent";
  /** The agent's environment; EXEC, FIND and READ use the `CNI_PATH` in it. */
  readonly environment: Environment;
}

/** A plugin's end, or the reason why it did not start. */
export type Outcome =
  | { readonly kind: "exited"; readonly status: number }
  | { readonly kind: "signalled"; readonly signal: number }
  | { readonly kind: "deadline-passed" }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-startable"; readonly errno: number }
  | { readonly kind: "text-busy" };

/** The answer to EXEC. */
export interface Executed {
  readonly kind: "executed";
  readonly outcome: Outcome;
  /** From EXEC's arrival at the shim to the plugin's end. */
  readonly microseconds: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** The executed file; empty if none was found. */
  readonly path: string;
}

/** The answer to FIND. */
export interface Found {
  readonly kind: "found";
  readonly what: "nothing" | "native" | "component";
  /** The plugin's path. For `nothing`: a file of this name that is not a plugin (no component and not executable), else empty. */
  readonly path: string;
  /** `dev:ino:size:mtime-ns:ctime-ns`, decimal: changes with the file. Empty for `nothing`. */
  readonly identity: string;
}

/** The answer to READ. */
export interface Content {
  readonly kind: "content";
  /** 0: success. */
  readonly errno: number;
  readonly content: Uint8Array;
}

/** The outcome of an effect in a network namespace. */
export interface Done extends NamespaceOutcome {
  readonly kind: "done";
}

/** A message from the shim or the agent. */
export type ShimMessage = Request | AgentGreeting | Executed | Found | Content | Done;

/**
 * The status of a reply by which a daemon gives a call back: it has begun nothing, and another engine may serve the call. A shim that does not
 * know it prints the reply, and exits with 1.
 */
export const notBegunStatus = 256;

/** A plugin's answer to a runtime: exit status, and stdout. */
export interface PluginAnswer {
  readonly status: number;
  readonly stdout: FieldBytes;
}

/** The answer to a runtime's call, or to a nested call. */
export interface CallAnswer extends PluginAnswer {
  readonly stderr: FieldBytes;
}

/** The answer to a Request, as a message. */
export interface Reply extends CallAnswer {
  readonly kind: "reply";
}

/** The effect of executing a native plugin. */
export interface Exec {
  readonly kind: "exec";
  /** The plugin's type, looked up on the call's CNI_PATH; native binaries only. */
  readonly type: string;
  /** The variables of `engineVariables`. The plugin gets the others from the runtime's environment. */
  readonly environment: Environment;
  readonly stdin: FieldBytes;
  readonly deadlineMs: number;
  /** Maximum of stdout in bytes; further bytes are dropped. */
  readonly stdoutCap: number;
  readonly stderrCap: number;
  /** Name of the nested-call directory in the run directory; absent: the plugin cannot make nested calls. */
  readonly nestedCallDirectory?: string;
}

/** The effect of looking up a type on `CNI_PATH`. */
export interface Find {
  readonly kind: "find";
  readonly type: string;
  /** Whether a component wins over a native binary in the same directory. */
  readonly componentFirst: boolean;
}

/** The effect of reading a component. */
export interface Read {
  readonly kind: "read";
  /** A component's path, as a Found message named it. */
  readonly path: string;
  /** Maximum size in bytes; a longer file is not read (EFBIG). */
  readonly cap: number;
}

/** The effect of sending netlink messages in a network namespace. */
export interface Netlink extends NetlinkExchange {
  readonly kind: "netlink";
}

/** A key is a path below /proc/sys that begins with `net/`. */
export interface Setting {
  readonly key: string;
  /** Empty: the shim only reads the value. */
  readonly value: string;
}

/** The effect of reading and writing settings below /proc/sys/net in a network namespace. */
export interface Sysctl {
  readonly kind: "sysctl";
  /** Path of a network namespace other than the shim's own. */
  readonly path: string;
  /** The shim reads, then writes each in order, and stops at the first failure. */
  readonly settings: readonly Setting[];
}

/** One packet of the link layer. */
export interface LinkPacket {
  readonly ethertype: number;
  /** Six bytes. */
  readonly destination: Uint8Array;
  /** The bytes after the link-layer header: at most 1500. */
  readonly payload: Uint8Array;
}

/** The effect of sending link-layer packets in a network namespace. */
export interface Packet {
  readonly kind: "packet";
  /** Path of a network namespace other than the shim's own. */
  readonly path: string;
  /** Index of the link that sends the packets; its hardware address becomes their source. */
  readonly index: number;
  /** At most 64. */
  readonly packets: readonly LinkPacket[];
}

/** The effect of making a persistent tap in a network namespace. */
export interface Tap {
  readonly kind: "tap";
  /** Path of a network namespace other than the shim's own. */
  readonly path: string;
  /** Name of the tap. A link of this name that exists is an error. */
  readonly name: string;
  readonly multiQueue: boolean;
  /** Numbers of the user and the group that may use the tap; absent: any process that may make taps. */
  readonly owner?: number;
  readonly group?: number;
}

/** The effect of making a tap in an SELinux context: the shim makes it in a child, which it executes in the context. */
export interface LabelledTap extends Omit<Tap, "kind"> {
  readonly kind: "labelled-tap";
  readonly selinuxContext: string;
}

/** The kinds of answers that an ASK collects, in the order of their numbers. */
export const askKinds = ["arp", "neighbour", "dhcp", "echo", "echo6"] as const;

/**
 * A kind of answers: ARP of an address, neighbour discovery of an address, a DHCP server's answers of a transaction, echo replies of an address and errors
 * about echo requests to it.
 */
export type AskKind = (typeof askKinds)[number];

/** The effect of sending link-layer packets in a network namespace and collecting the answers. */
export interface Ask {
  readonly kind: "ask";
  /** Path of a network namespace other than the shim's own. */
  readonly path: string;
  /** Index of the link. */
  readonly index: number;
  readonly answers: AskKind;
  /** The addresses (4 or 16 bytes each), or transaction ids (4 bytes), whose answers are collected. */
  readonly keys: readonly Uint8Array[];
  /** At most 64, all of the ethertype of `answers`. */
  readonly packets: readonly LinkPacket[];
  /** Milliseconds for answers, at most 10 000. */
  readonly deadlineMs: number;
  /** The number of answers that ends the effect early, 1 to 64. */
  readonly maxAnswers: number;
}

/** The effect of following the links of the shim's own network namespace. */
export interface Changes {
  readonly kind: "changes";
  /** Milliseconds to wait for a change, at most 60 000. */
  readonly deadlineMs: number;
}

/** The operations on sources of firewalld's zones, in the order of their numbers. */
export const zoneOperations = ["add", "remove", "query", "zone-of"] as const;

/** The effect of asking firewalld about a source of a zone. The answer's `reply` has what the bus has sent. */
export interface Zone {
  readonly kind: "zone";
  readonly operation: (typeof zoneOperations)[number];
  /** Empty for `zone-of`. */
  readonly zone: string;
  /** An address with its prefix length. */
  readonly source: string;
}

/** The daemon's first message: it accepts the call. */
export interface Welcome {
  readonly kind: "welcome";
}

/** A message from the engine. */
export type EngineMessage =
  | Welcome
  | Reply
  | Exec
  | Find
  | Read
  | Netlink
  | Sysctl
  | Packet
  | Tap
  | LabelledTap
  | Ask
  | Changes
  | Zone;
