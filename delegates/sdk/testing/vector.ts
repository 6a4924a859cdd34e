// The vectors of a delegate: `<name>.in.json` is a runtime's request, `<name>.out.json` the answer. They are tests and
// documentation; README.md beside this directory describes their members.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { closest } from "../../../src/configuration/closest.ts";
import { type JsonObjectDocument, memberText, parseDocument } from "../../../src/json/document.ts";
import { wrongValue } from "./wrong-value.ts";

const leaseState = z.strictObject({
  directory: z.string().optional(),
  held: z.record(z.string(), z.string()).default({}),
  last: z.record(z.string(), z.string()).default({}),
});

const fault = z.strictObject({ code: z.number(), msg: z.string(), details: z.string().optional() });

const deviceFacts = z.strictObject({
  driver: z.string().optional(),
  pciAddress: z.string().optional(),
  speed: z.number().optional(),
  numaNode: z.number().optional(),
  physicalFunction: z.string().optional(),
  rdmaDevices: z.array(z.string()).default([]),
});

const link = z.strictObject({
  name: z.string(),
  kind: z.string().optional(),
  mac: z.string().optional(),
  mtu: z.number().optional(),
  up: z.boolean().optional(),
  running: z.boolean().optional(),
  promiscuous: z.boolean().optional(),
  allMulticast: z.boolean().optional(),
  txQueueLength: z.number().optional(),
  alternativeNames: z.array(z.string()).optional(),
  master: z.string().optional(),
  peer: z.string().optional(),
  parent: z.string().optional(),
  mode: z.string().optional(),
  vlanId: z.number().optional(),
  vlanFiltering: z.boolean().optional(),
  port: z.record(z.enum(["hairpin", "isolated", "learning", "flood"]), z.boolean()).optional(),
  portVlans: z
    .array(z.strictObject({ first: z.number(), last: z.number(), pvid: z.boolean(), untagged: z.boolean() }))
    .optional(),
  addresses: z.array(z.string()).optional(),
  routes: z.array(z.looseObject({ dst: z.string() })).optional(),
  neighbours: z.array(z.strictObject({ address: z.string(), mac: z.string().optional(), proxy: z.boolean() })).optional(),
  device: deviceFacts.optional(),
  takenFrom: z.string().optional(),
  vrfTable: z.int().min(1).max(0xffff_ffff).optional(),
});

const optionValue = z.strictObject({ number: z.number(), value: z.array(z.number()) });
const dhcpLease = z.strictObject({
  address: z.string(),
  gateway: z.string().optional(),
  routes: z.array(z.strictObject({ dst: z.string(), gw: z.string().optional(), scope: z.number().optional() })).default([]),
  dns: z
    .strictObject({
      nameservers: z.array(z.string()).default([]),
      domain: z.string().optional(),
      search: z.array(z.string()).default([]),
      options: z.array(z.string()).default([]),
    })
    .default({ nameservers: [], search: [], options: [] }),
  mtu: z.number().optional(),
  options: z.array(optionValue).default([]),
});

/** The members of a vector's link, which README.md describes. */
export const linkMembers: readonly string[] = Object.keys(link.shape);

const keptState = z.strictObject({ directory: z.string().optional(), text: z.string().optional() });
const rules = z.strictObject({
  masquerades: z.array(z.strictObject({ address: z.string() })),
  portMappings: z.array(
    z.strictObject({
      protocol: z.enum(["tcp", "udp", "sctp"]),
      hostAddress: z.string().optional(),
      hostPort: z.number(),
      podAddress: z.string(),
      podPort: z.number(),
      masquerading: z.enum(["none", "local", "all"]),
    }),
  ),
  conditions: z
    .array(z.strictObject({ side: z.enum(["source", "destination"]), negated: z.boolean(), network: z.string() }))
    .optional(),
});

const port = z.strictObject({
  bridge: z.string(),
  interfaceId: z.string().optional(),
  mac: z.string().optional(),
  owner: z.string().optional(),
  tag: z.number().optional(),
  trunks: z.array(z.strictObject({ first: z.number(), last: z.number() })).optional(),
  number: z.number().optional(),
  error: z.string().optional(),
});

const oneAnswer = z.strictObject({ result: z.record(z.string(), z.unknown()).optional(), error: fault.optional() });
/** One answer for all calls of a verb, or one for each call in order, of which the last repeats. */
const pluginAnswer = z.union([oneAnswer, z.array(oneAnswer).min(1)]);
const policyRule = z.strictObject({
  family: z.enum(["ipv4", "ipv6"]),
  priority: z.number().optional(),
  source: z.string().optional(),
  destination: z.string().optional(),
  incomingLink: z.string().optional(),
  outgoingLink: z.string().optional(),
  mark: z.strictObject({ value: z.number(), mask: z.number() }).optional(),
  table: z.number(),
});

const bucket = z.strictObject({ rate: z.number(), burst: z.number(), latency: z.number() });
const shape = z.strictObject({
  ingress: bucket.optional(),
  egress: bucket.optional(),
  networks: z.array(z.string()).default([]),
  exempt: z.array(z.string()).default([]),
});

const filterRules = {
  accepted: z.record(z.string(), z.array(z.string())).default({}),
  bridges: z.record(z.string(), z.enum(["same-bridge", "isolated"])).default({}),
  adminChains: z.array(z.string()).default([]),
};

const flowEnd = z.strictObject({ address: z.string(), port: z.number() });
const flow = z.strictObject({
  protocol: z.enum(["tcp", "udp", "sctp"]),
  source: flowEnd,
  destination: flowEnd,
  server: flowEnd.optional(),
});

const question = z.strictObject({
  /** The vector's subject, in one sentence. */
  about: z.string().min(1),
  verb: z.enum(["ADD", "DEL", "CHECK", "GC", "STATUS"]),
  env: z.record(z.string().regex(/^CNI_/), z.string()).default({}),
  /** The granted capabilities; absent: all. */
  granted: z.array(z.string()).optional(),
  /** Milliseconds until the node would end the call. */
  remainingMs: z.number().int().min(0).max(0xffff_ffff).default(15_000),
  stdin: z.record(z.string(), z.unknown()),
  leases: leaseState.optional(),
  /** The files for the `resolver` capability, by path. */
  resolver: z
    .record(
      z.string(),
      z.strictObject({
        nameservers: z.array(z.string()).default([]),
        domain: z.string().optional(),
        search: z.array(z.string()).default([]),
        options: z.array(z.string()).default([]),
      }),
    )
    .default({}),
  /** Links before the call; `fails` makes one operation of each `apply` fail. */
  links: z
    .strictObject({
      host: z.array(link).default([]),
      pod: z.array(link).default([]),
      devices: z.array(deviceFacts).optional(),
      fails: z.strictObject({ operation: z.number(), fault }).optional(),
    })
    .optional(),
  /** Rules before the call, by attachment; with `fault`, all functions fail with it. */
  firewall: z
    .strictObject({
      rules: z.record(z.string(), rules).default({}),
      guards: z.record(z.string(), z.string()).optional(),
      fault: fault.optional(),
    })
    .optional(),
  /** Bridges and ports of Open vSwitch before the call; with `fault`, all functions fail with it. */
  ovs: z
    .strictObject({
      bridges: z.array(z.string()).optional(),
      interfaceIds: z.array(z.string()).optional(),
      vlans: z.array(z.string()).optional(),
      ports: z.record(z.string(), port).optional(),
      refuses: z.record(z.string(), z.string()).optional(),
      fault: fault.optional(),
    })
    .optional(),
  /** Answers of the plugins that `delegation` calls, by type and verb; absent verbs succeed. */
  plugins: z.record(z.string(), z.partialRecord(z.enum(["add", "del", "check", "gc", "status"]), pluginAnswer)).optional(),
  /** The existing keys, and values that the kernel refuses. */
  sysctl: z
    .strictObject({
      values: z.record(z.string(), z.string()),
      refuses: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  /** Policy rules before the call; with `fault`, all changes of rules fail with it. */
  routing: z
    .strictObject({
      host: z.array(policyRule).optional(),
      pod: z.array(policyRule).optional(),
      fault: fault.optional(),
    })
    .optional(),
  /** Shapes before the call, by attachment; with `fault`, all functions fail with it. */
  shaping: z.strictObject({ shapes: z.record(z.string(), shape).default({}), fault: fault.optional() }).optional(),
  /** Accepted addresses by attachment, policies of bridges and chains of administrators; with `fault`, all functions fail with it. */
  filter: z.strictObject({ ...filterRules, fault: fault.optional() }).optional(),
  /** Connection tracking entries before the call; with `fault`, `forget` fails with it. */
  flows: z.strictObject({ entries: z.array(flow).default([]), fault: fault.optional() }).optional(),
  /** The attachment's stored state. */
  state: keptState.optional(),
  /** The lease that a DHCP server offers, the lease that the attachment holds; with `fault`, no lease can be had. */
  dhcp: z.strictObject({ offered: dhcpLease.optional(), held: dhcpLease.optional(), fault: fault.optional() }).optional(),
  /** The answer lists announcements and probes. `neighbours`: MACs of other hosts by their addresses; `fault`: all probes fail with it. */
  announce: z
    .union([
      z.literal(true),
      z.strictObject({ neighbours: z.record(z.string(), z.string()).default({}), fault: fault.optional() }),
    ])
    .optional(),
});

const answer = z.strictObject({
  /** Requests for a lease, and the lease after the call, if the question has dhcp. */
  dhcp: z
    .strictObject({
      requests: z.array(
        z.strictObject({ requested: z.array(z.number()), provided: z.array(optionValue), milliseconds: z.number() }),
      ),
      held: dhcpLease.optional(),
    })
    .optional(),
  /** ADD's success as CNI JSON, in stdin's cniVersion. */
  result: z.record(z.string(), z.unknown()).optional(),
  error: fault.optional(),
  /** Leases after the call, if the question has leases. */
  leases: leaseState.optional(),
  /** Operations of each `links.apply`, if the question has links. */
  applied: z.array(z.array(z.record(z.string(), z.unknown()))).optional(),
  /** Calls of other plugins, if the question has plugins. */
  called: z.array(z.record(z.string(), z.unknown())).optional(),
  /** Values after the call, if the question has sysctl. */
  sysctl: z.record(z.string(), z.string()).optional(),
  /** Policy rules after the call, if the question has routing. */
  routing: z.strictObject({ host: z.array(policyRule), pod: z.array(policyRule) }).optional(),
  /** Shapes after the call, if the question has shaping. */
  shapes: z.record(z.string(), shape).optional(),
  /** Acceptances after the call, if the question has filter. */
  filter: z.strictObject(filterRules).optional(),
  /** Connection tracking entries after the call, if the question has flows. */
  flows: z.array(flow).optional(),
  /** State after the call, if the question has state. */
  state: keptState.optional(),
  /** Addresses of each announcement, if the question has announce. */
  announced: z.array(z.array(z.string())).optional(),
  /** The probes, if the question's announce has neighbours. */
  probed: z.array(z.strictObject({ addresses: z.array(z.string()), probes: z.number(), milliseconds: z.number() })).optional(),
  /** Rules after the call, if the question has a firewall. */
  firewall: z.record(z.string(), rules).optional(),
  /** Guards after the call, if the question has guards. */
  guards: z.record(z.string(), z.string()).optional(),
  /** Ports after the call, if the question has ovs. */
  ports: z.record(z.string(), port).optional(),
  /** Log lines, `level: text`; not compared if absent. */
  log: z.array(z.string()).optional(),
});

/** The content of an `.out.json`. */
export type VectorAnswer = z.infer<typeof answer>;

/** A vector: the content of an `.in.json`, with its answer. */
export interface Vector extends z.infer<typeof question> {
  /** The file's name without `.in.json`. */
  readonly name: string;
  /** The exact text of `stdin` in the file. */
  readonly stdinText: string;
  /** Null without an `.out.json`. */
  readonly answer: VectorAnswer | null;
}

/** Reads the vectors of a directory, sorted by name. Throws an Error that names the file and the field of each mistake. */
export async function readVectors(directory: string): Promise<Vector[]> {
  const files = await readdir(directory).catch((cause: unknown) => {
    throw new Error(`${directory} is missing: put a delegate's requests into it, as NAME.in.json`, { cause });
  });
  const names = files.filter((file) => file.endsWith(".in.json")).map((file) => file.slice(0, -".in.json".length));
  const orphans = files.filter((file) => file.endsWith(".out.json") && !names.includes(file.slice(0, -".out.json".length)));
  if (orphans.length > 0) {
    const [orphan = ""] = orphans;
    const request = orphan.replace(/\.out\.json$/, ".in.json");
    throw new Error(`${join(directory, orphan)} is the answer to no request: add ${request}, or remove the file`);
  }
  return Promise.all(names.toSorted().map((name) => readVector(directory, name)));
}

async function readVector(directory: string, name: string): Promise<Vector> {
  const file = join(directory, `${name}.in.json`);
  const read = vectorOf(file, await readFile(file, "utf8"), name);
  const outFile = join(directory, `${name}.out.json`);
  const out = await readFile(outFile, "utf8").catch(() => null);
  return {
    ...read,
    answer: out === null ? null : fieldsOf(outFile, answer, documentOf(outFile, out).parsed),
  };
}

/** The request of a vector from the text of its `.in.json`, without its answer. Throws an Error that names `file` and the field. */
export function vectorOf(file: string, text: string, name: string): Vector {
  const document = documentOf(file, text);
  const fields = fieldsOf(file, question, document.parsed);
  return { name, ...fields, stdinText: memberText(document, "stdin") ?? "{}", answer: null };
}

function documentOf(file: string, text: string): JsonObjectDocument {
  const document = parseDocument(text, { what: file });
  if (!document.ok) throw new Error(document.fault.msg);
  return document.value;
}

function fieldsOf<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${file}: ${mistakesOf(parsed.error, schema, value)}`);
}

/** Each mistake with its field, and the valid names where a name is unknown. */
function mistakesOf({ issues }: z.ZodError, schema: z.ZodType, value: unknown): string {
  const valid = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const texts = issues.map((issue) => {
    const at = issue.path.map(String).join(".");
    if (issue.code !== "unrecognized_keys") return wrongValue(issue, value);
    return issue.keys
      .map((key) => {
        const nearest = at === "" ? closest(key, valid) : undefined;
        const help =
          nearest === undefined ? (at === "" ? `; valid ones: ${valid.join(", ")}` : "") : `; did you mean ${nearest}?`;
        return `${at === "" ? key : `${at}.${key}`}: no such member${help}`;
      })
      .join("; ");
  });
  return texts.join("; ");
}
