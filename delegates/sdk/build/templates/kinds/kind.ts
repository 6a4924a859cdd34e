// The form of a template for one kind of plugin: main, ipam, meta or policy.

/** A request and its answer; the answer's file is written from the object. */
export interface KindVector {
  readonly name: string;
  readonly question: object;
  readonly answer: object;
}

/** A kind of plugin with a small delegate, in AssemblyScript, that an author changes. */
export interface Kind {
  /** One line for delegate.json. */
  readonly about: string;
  /** The text of `assembly/index.ts`. */
  readonly source: string;
  /** The declared capabilities with their reasons, for the administrator. */
  readonly capabilities: Readonly<Record<string, string>>;
  /** `type`: the delegate's name. */
  readonly vectors: (type: string) => readonly KindVector[];
  /** The text of `conformance.json`, whose form the README of the kit has. */
  readonly conformance: object;
  /** The grant to begin with. */
  readonly grant: object;
}

/** The environment of an attachment in vectors. */
export const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/pod-1", CNI_IFNAME: "eth0" } as const;
