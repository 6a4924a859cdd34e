// `conformance.json`: a valid configuration of the plugin under test, and the node that it expects.

import { z } from "zod";
import { closest } from "../../../src/configuration/closest.ts";
import { wrongValue } from "../testing/wrong-value.ts";

/** The plugin's role: it makes an interface, changes one that an earlier plugin made, or assigns addresses. */
export const roles = ["interface", "chained", "ipam"] as const;
export type Role = (typeof roles)[number];

const link = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,15}$/, "must be the name of a link"),
  addresses: z.array(z.string()).default([]),
  /** A bridge, which can be a macvlan's parent, or one end of a veth, which a plugin can move into a pod. */
  kind: z.enum(["bridge", "veth"]).default("bridge"),
});
const service = z.strictObject({
  /** Text for `sh -e -c` on the node. `$PLUGIN` is the plugin's file, `$RUN` a directory for sockets and files. */
  command: z.string().min(1),
  /** The file that exists when the service is ready. */
  ready: z.string().startsWith("$RUN/", "must begin with $RUN/"),
});
const configuration = z.record(z.string(), z.unknown());

const setup = z.strictObject({
  /** Absent: `ipam` if `ipam.type` is the plugin itself, `interface` otherwise. */
  role: z.enum(roles).optional(),
  /**
   * A valid configuration, without `cniVersion`. In a text `$STATE` is a directory for the plugin's files, and `$POD` the pod's number, from 1.
   * `$RUN` is the directory of the services.
   */
  configuration,
  /** `CNI_IFNAME`. */
  ifname: z.string().default("eth0"),
  /** `CNI_ARGS`. */
  args: z.string().default(""),
  /** Members of the configuration that make it invalid. */
  invalid: configuration.optional(),
  /** Members of the configuration with which the plugin is not ready. */
  notReady: configuration.optional(),
  /** Links of the node. */
  links: z.array(link).default([]),
  /** The bridge of `links` to which each pod's interface is connected, for an IPAM plugin that sends packets. */
  bridge: z.string().optional(),
  /** Programs that a native plugin needs on the node, in the order of their start. */
  services: z.array(service).max(8).default([]),
  /** Keys of the pod with their values, for a component. */
  sysctl: z.record(z.string(), z.string()).default({}),
  /** Files for the `resolver` capability, by path. */
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
  /** Bridges of Open vSwitch, for a component. */
  ovs: z.strictObject({ bridges: z.array(z.string()), vlans: z.array(z.string()).optional() }).optional(),
  /** Members of prevResult that a chained plugin changes on purpose. */
  changes: z.array(z.enum(["interfaces", "ips", "routes", "dns"])).default([]),
  /** Checks that don't apply to this plugin, each with the reason. */
  skip: z.record(z.string().regex(/^[A-Z]+-\d+$/, "must be a check's ID"), z.string().min(1)).default({}),
  /** Greatest number of attachments at once. */
  attachments: z.number().int().min(2).max(64).default(8),
});

/** The content of `conformance.json`. */
export interface Setup extends z.infer<typeof setup> {
  readonly role: Role;
}

/** Reads a set-up. Throws an Error that names `file` and the field of each mistake. `type`: the plugin's type. */
export function setupOf(file: string, value: unknown, type: string): Setup {
  const parsed = setup.safeParse(value);
  if (!parsed.success) throw new Error(`${file}: ${mistakesOf(parsed.error, value)}`);
  const { bridge, links } = parsed.data;
  if (bridge !== undefined && !links.some(({ name, kind }) => name === bridge && kind === "bridge"))
    throw new Error(`${file}: bridge: ${bridge} is no bridge of links: add { "name": "${bridge}" } there`);
  const ipam = parsed.data.configuration["ipam"];
  const ipamType = typeof ipam === "object" && ipam !== null && "type" in ipam ? ipam.type : undefined;
  return { ...parsed.data, role: parsed.data.role ?? (ipamType === type ? "ipam" : "interface") };
}

function mistakesOf({ issues }: z.ZodError, value: unknown): string {
  return issues
    .map((issue) => {
      const at = issue.path.map(String).join(".");
      if (issue.code !== "unrecognized_keys") return wrongValue(issue, value);
      const valid = Object.keys(setup.shape);
      const nearest = at === "" ? closest(issue.keys[0] ?? "", valid) : undefined;
      const help = at !== "" ? "" : nearest === undefined ? `; valid ones: ${valid.join(", ")}` : `; did you mean ${nearest}?`;
      return `${at === "" ? "" : `${at}.`}${issue.keys.join(", ")}: no such member${help}`;
    })
    .join("; ");
}
