// The means of a check: one plugin, a fresh node, and the requests of a runtime.

import { convertResult, printResult } from "../../../src/cni/convert-result.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { type CniVersion, SUPPORTED_VERSIONS } from "../../../src/cni/versions.ts";
import { Skip } from "./check.ts";
import { earlierResult, podLink } from "./earlier-result.ts";
import { jsonIn, wordsOf } from "./reply.ts";
import type { Setup } from "./setup.ts";
import type { Execution, Reply, State, Subject, TestNode } from "./subject.ts";

/** The type of the kit's IPAM plugin, which a configuration's `ipam.type` is replaced with. */
export const kitIpam = "plexus-kit-ipam";

/** The parameters of an attachment. */
export interface Attachment {
  readonly containerId: string;
  readonly netns: string;
  /** The number of the pod on its node, from 1. */
  readonly number: number;
}

/** Differences from the usual request of a verb. */
export interface RequestChange {
  readonly version?: string;
  /** Members of the configuration; undefined removes one. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** JSON text; undefined: the usual one, null: none. */
  readonly prevResult?: string | null;
  /** Variables; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The whole of stdin. */
  readonly stdin?: string;
}

/** An attachment whose ADD succeeded. */
export interface Added {
  readonly attachment: Attachment;
  /** The result as the plugin printed it. */
  readonly text: string;
  readonly result: CniResult;
}

/** A call that should fail. */
export interface FailedCall {
  readonly what: string;
  readonly reply: Reply;
  /** Undefined for a version that the plugin does not know. */
  readonly version: string | undefined;
}

/** Replies that the checks of one run share. */
export interface SharedReplies {
  adds?: Promise<readonly (readonly [CniVersion, Reply])[]>;
  failures?: Promise<readonly FailedCall[]>;
}

/** One check's view of plugin and node. */
export class Lab {
  readonly subject: Subject;
  readonly setup: Setup;
  readonly node: TestNode;
  /** The versions that the plugin supports, oldest first. */
  readonly versions: readonly CniVersion[];
  readonly #shared: SharedReplies;
  #pods = 0;

  constructor(subject: Subject, setup: Setup, node: TestNode, versions: readonly CniVersion[], shared: SharedReplies) {
    this.subject = subject;
    this.setup = setup;
    this.node = node;
    this.versions = versions;
    this.#shared = shared;
  }

  /** The reply to an ADD in each supported version, each in a pod of its own. Several checks judge the same replies. */
  async addedInEachVersion(): Promise<readonly (readonly [CniVersion, Reply])[]> {
    this.#shared.adds ??= this.#addInEachVersion();
    return this.#shared.adds;
  }

  async #addInEachVersion(): Promise<readonly (readonly [CniVersion, Reply])[]> {
    const replies: (readonly [CniVersion, Reply])[] = [];
    for (const version of this.versions) replies.push([version, await this.run("ADD", await this.pod(), { version })]);
    return replies;
  }

  /** The replies to calls that should fail for different reasons. Several checks judge them. */
  async failedCalls(): Promise<readonly FailedCall[]> {
    this.#shared.failures ??= this.#fail();
    return this.#shared.failures;
  }

  async #fail(): Promise<readonly FailedCall[]> {
    const { version } = this;
    const changes: (readonly [what: string, change: RequestChange])[] = [["an unknown cniVersion", { version: "9.9.9" }]];
    const { invalid } = this.setup;
    if (invalid !== undefined) changes.push(["an invalid configuration", { members: invalid }]);
    if (this.subject.kind === "native") {
      changes.push(["a missing CNI_IFNAME", { env: { CNI_IFNAME: undefined } }]);
      changes.push(["a path as CNI_CONTAINERID", { env: { CNI_CONTAINERID: "../kit" } }]);
    }
    const calls: FailedCall[] = [];
    for (const [what, change] of changes) {
      const reply = await this.run("ADD", await this.pod(), change);
      calls.push({ what, reply, version: change.version === undefined ? version : undefined });
    }
    return calls;
  }

  /** The newest version that the plugin supports. */
  get version(): CniVersion {
    return this.versions.at(-1) ?? "0.4.0";
  }

  /** Makes a pod and the parameters of its attachment. */
  async pod(): Promise<Attachment> {
    this.#pods += 1;
    const number = this.#pods;
    return { containerId: `kit-${number}`, netns: await this.node.makePod(), number };
  }

  /** The execution of a verb, with the configuration of the set-up. */
  execution(verb: string, attachment: Attachment | undefined, change: RequestChange = {}): Execution {
    const version = change.version ?? this.version;
    const { containerId, netns } = attachment ?? { containerId: "", netns: "" };
    const usual =
      attachment === undefined ? {} : { CNI_CONTAINERID: containerId, CNI_NETNS: netns, CNI_IFNAME: this.setup.ifname };
    const args = attachment === undefined || this.setup.args === "" ? {} : { CNI_ARGS: this.setup.args };
    const env = Object.entries({ ...usual, ...args, ...change.env }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return { verb, env: Object.fromEntries(env), stdin: change.stdin ?? this.#configuration(verb, attachment, version, change) };
  }

  /** Executes a verb. */
  async run(verb: string, attachment: Attachment | undefined, change: RequestChange = {}): Promise<Reply> {
    return this.node.execute(this.execution(verb, attachment, change));
  }

  /** Executes ADD. Throws a Skip if the plugin gives no result: ADD-1, ADD-3 and OUT-1 report that. */
  async added(attachment?: Attachment, change: RequestChange = {}): Promise<Added> {
    const pod = attachment ?? (await this.pod());
    return addedBy(await this.run("ADD", pod, change), pod, this.version);
  }

  /** Executes DEL with the result of the ADD. */
  async deleted({ attachment, text }: Added, change: RequestChange = {}): Promise<Reply> {
    return this.run("DEL", attachment, { prevResult: text, ...change });
  }

  /** An ADD and a DEL, so that state that all attachments share exists from now on. Throws a Skip if one of them fails. */
  async warmUp(): Promise<void> {
    const deleted = await this.deleted(await this.added());
    if (deleted.status !== 0) throw new Skip(`DEL fails after an ADD, see DEL-1: ${wordsOf(deleted)}`);
  }

  /** The state that a pod and the node have. */
  async state({ netns }: Attachment): Promise<State> {
    return this.node.state(netns);
  }

  /** The result of an earlier plugin, for a chained plugin. */
  earlier(attachment: Attachment): CniResult {
    return earlierResult(attachment, this.setup.ifname === "lo" ? podLink : this.setup.ifname);
  }

  #configuration(verb: string, attachment: Attachment | undefined, version: string, change: RequestChange): string {
    const { name = "conformance", ...own } = this.setup.configuration;
    const ipam = own["ipam"];
    const replaced =
      this.setup.role !== "ipam" && typeof ipam === "object" && ipam !== null && "type" in ipam
        ? { ipam: { ...ipam, type: kitIpam } }
        : {};
    const merged = { cniVersion: version, name, type: this.subject.type, ...own, ...replaced, ...change.members };
    const members = attachment === undefined ? merged : withPortsOfPod(merged, attachment.number);
    const earlier =
      verb === "ADD" && this.setup.role === "chained" && attachment !== undefined
        ? this.#earlierText(attachment, version)
        : undefined;
    const prevResult = change.prevResult === undefined ? earlier : (change.prevResult ?? undefined);
    const pod = String(attachment?.number ?? 1);
    const text = JSON.stringify(members)
      .replaceAll("$STATE", this.node.stateDirectory)
      .replaceAll("$RUN", this.node.runDirectory)
      .replaceAll("$POD", pod);
    return prevResult === undefined ? text : `${text.slice(0, -1)},"prevResult":${prevResult}}`;
  }

  #earlierText(attachment: Attachment, version: string): string {
    const known = SUPPORTED_VERSIONS.find((each) => each === version) ?? "1.0.0";
    const printed = printResult({ ...this.earlier(attachment), cniVersion: known }, known);
    if (!printed.ok) throw new Error(printed.fault.msg);
    return printed.value;
  }
}

/** The configuration with ports of the node that no other pod has: a runtime maps each port once. */
function withPortsOfPod<T extends Readonly<Record<string, unknown>>>(members: T, number: number): T {
  const { runtimeConfig } = members as { readonly runtimeConfig?: { readonly portMappings?: unknown } };
  const mappings = runtimeConfig?.portMappings;
  if (!Array.isArray(mappings)) return members;
  const portMappings = (mappings as readonly { readonly hostPort?: unknown }[]).map((mapping) =>
    typeof mapping.hostPort === "number" ? { ...mapping, hostPort: mapping.hostPort + number - 1 } : mapping,
  );
  return { ...members, runtimeConfig: { ...runtimeConfig, portMappings } };
}

/** The result of an ADD. Throws a Skip without one. */
export function addedBy(reply: Reply, attachment: Attachment, version: CniVersion): Added {
  if (reply.status !== 0) throw new Skip(`ADD fails, see ADD-1: ${wordsOf(reply)}`);
  const found = jsonIn(reply.stdout);
  if (found === undefined) throw new Skip("ADD prints no JSON object, see OUT-1");
  const text = JSON.stringify(found);
  const read = readResult(text, version);
  const newest = read.ok ? convertResult(read.value, "1.1.0") : read;
  if (!newest.ok) throw new Skip(`the result is invalid, see ADD-3: ${newest.fault.msg}`);
  return { attachment, text, result: newest.value.result };
}
