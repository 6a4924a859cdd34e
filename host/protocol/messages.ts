// The messages between hands and brain, as PROTOCOL.md has them.

import type { Environment, FieldBytes } from "./fields.ts";

/** A runtime's call (channel 0), or a call that a running plugin made (a nested channel). */
export interface Request {
  readonly kind: "request";
  /** The name under which the hands were called: `plexus`, or the delegate's where a nested call means one. */
  readonly name: string;
  readonly environment: Environment;
  readonly stdin: Uint8Array;
  /** Channel of the EXEC under which it was nested; 0 for the call itself. */
  readonly under: number;
}

/** Hands that no runtime started: they stay, and carry out effects for what the brain does on its own. */
export interface Resident {
  readonly kind: "resident";
  /** Theirs; EXEC, FIND and READ look on the `CNI_PATH` in it. */
  readonly environment: Environment;
}

/** How a plugin ended, or why it didn't start. */
export type Outcome =
  | { readonly kind: "exited"; readonly status: number }
  | { readonly kind: "signalled"; readonly signal: number }
  | { readonly kind: "deadline-passed" }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-startable"; readonly errno: number }
  | { readonly kind: "text-busy" };

export interface Executed {
  readonly kind: "executed";
  readonly outcome: Outcome;
  /** From EXEC's arrival at the hands to the plugin's end. */
  readonly microseconds: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** The file executed; empty where none was found. */
  readonly path: string;
}

export interface Found {
  readonly kind: "found";
  readonly what: "nothing" | "native" | "component";
  /** Of nothing: what has the name but is no plugin (no component, or nobody may execute it); empty where there is none. */
  readonly path: string;
  /** `dev:ino:size:mtime-ns`, decimal: changes with the file. Empty for nothing. */
  readonly identity: string;
}

export interface Content {
  readonly kind: "content";
  /** 0: good. */
  readonly errno: number;
  readonly content: Uint8Array;
}

/** What became of an effect in a network namespace. */
export interface Done {
  readonly kind: "done";
  /** 0: all was done; of NETLINK: every message was answered. */
  readonly errno: number;
  /** False: the kernel has seen nothing of it. With an errno but true: a part was done, or of NETLINK what was done is not known. */
  readonly sent: boolean;
  /** NETLINK: the kernel's answers, one after the other. SYSCTL: the values before of what was done, each with a NUL. */
  readonly reply: Uint8Array;
}

export type HandsMessage = Request | Resident | Executed | Found | Content | Done;

/** The answer to a Request. */
export interface Reply {
  readonly kind: "reply";
  readonly status: number;
  readonly stdout: FieldBytes;
  readonly stderr: FieldBytes;
}

export interface Exec {
  readonly kind: "exec";
  /** The plugin's type, looked up on the call's CNI_PATH; native binaries only. */
  readonly type: string;
  /** Complete: nothing is inherited. */
  readonly environment: Environment;
  readonly stdin: FieldBytes;
  readonly deadlineMs: number;
  /** Bytes of stdout that are kept. */
  readonly stdoutCap: number;
  readonly stderrCap: number;
  /** Directory for nested calls; absent: none can be made. */
  readonly nest?: string;
}

export interface Find {
  readonly kind: "find";
  readonly type: string;
  /** Whether a component wins over a native binary in the same directory. */
  readonly componentFirst: boolean;
}

export interface Read {
  readonly kind: "read";
  /** As a Found of a component named it. */
  readonly path: string;
  /** A longer file is not read (EFBIG). */
  readonly cap: number;
}

export interface Netlink {
  readonly kind: "netlink";
  /** Path of the network namespace; empty for the hands' own, which is the host's. */
  readonly path: string;
  /** Absent: rtnetlink. */
  readonly protocol?: "netfilter" | undefined;
  /** Netlink messages; at least one asks for an acknowledgement, and those that do are waited for. */
  readonly request: Uint8Array;
  readonly deadlineMs: number;
  /** Path of a second namespace, which the messages name by the descriptor SECOND_NAMESPACE; absent: none. */
  readonly second?: string | undefined;
  /** Refuses (EXDEV, nothing sent) a namespace, first or second, that is the hands' own by another name. The empty path is no other name. */
  readonly foreign?: boolean | undefined;
}

/** Number of the descriptor under which the hands have a NETLINK's second namespace open (IFLA_NET_NS_FD). */
export const SECOND_NAMESPACE = 960;

/** A key is a path below /proc/sys that begins with `net/`. */
export interface Setting {
  readonly key: string;
  /** Empty: the value is read only. */
  readonly value: string;
}

export interface Sysctl {
  readonly kind: "sysctl";
  /** As NETLINK's, always a foreign one. */
  readonly path: string;
  /** Read, then written, one after the other; the first one that fails ends it. */
  readonly settings: readonly Setting[];
}

/** One packet of the link layer. */
export interface LinkPacket {
  readonly ethertype: number;
  /** Six bytes. */
  readonly destination: Uint8Array;
  /** What follows the link's own header: at most 1500 bytes. */
  readonly payload: Uint8Array;
}

export interface Packet {
  readonly kind: "packet";
  /** As NETLINK's, always a foreign one. */
  readonly path: string;
  /** Index of the link that sends them, from its own hardware address. */
  readonly index: number;
  /** At most 64. */
  readonly packets: readonly LinkPacket[];
}

export interface Tap {
  readonly kind: "tap";
  /** As NETLINK's, always a foreign one. */
  readonly path: string;
  /** Of the link; one that is there already is refused. */
  readonly name: string;
  readonly multiQueue: boolean;
  /** User and group who may use it, by number; absent: whoever may make one. */
  readonly owner?: number;
  readonly group?: number;
}

/** What a daemon says first: it is there, and will answer. */
export interface Welcome {
  readonly kind: "welcome";
}

export type BrainMessage = Welcome | Reply | Exec | Find | Read | Netlink | Sysctl | Packet | Tap;
