// The settings of the provider `neutron`.

import { z } from "zod";
import { providerUrl } from "../provider-url.ts";

const id = z.string().min(1).max(64);
const file = z.string().startsWith("/").max(4096);
const url = providerUrl;

/** How the controller authenticates. The secret is in a file, which is read again for each token. */
const auth = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("none") }),
  z.strictObject({ type: z.literal("applicationCredential"), url, id, secretFile: file }),
  z.strictObject({
    type: z.literal("password"),
    url,
    user: z.string().min(1),
    userDomain: z.string().min(1).default("Default"),
    passwordFile: file,
    project: z.string().min(1),
    projectDomain: z.string().min(1).default("Default"),
  }),
]);

/** How a port is plugged, by the names that Kuryr's drivers have: a Neutron agent's bridge, a VLAN of the node's trunk, or any link. */
const drivers = z.enum(["neutron-vif", "nested-vlan", "nested-macvlan"]);

/** Ports that are kept free in one subnet: below `min` the pool is filled to `max`. */
const pool = z
  .strictObject({ subnet: id, min: z.int().min(1).max(200), max: z.int().min(1).max(200) })
  .refine(({ min, max }) => min <= max, { message: "min is greater than max", path: ["min"] });

/** The schema of the settings. */
export const neutronSettings = z.strictObject({
  /** The network API's URL, without its version. */
  url,
  auth,
  /** Subnet of definitions that name none (Kuryr's `pod_subnet`). */
  podSubnet: id.optional(),
  /** Subnets by driver (Kuryr's `subnet_mapping`). */
  subnetMapping: z.record(z.string(), id).default({}),
  /** Subnets that definitions may name. Without it a definition may name each subnet that the credentials reach. */
  allowedSubnets: z.array(id).optional(),
  driver: drivers.default("neutron-vif"),
  /** Other names for the drivers. */
  driverAliases: z.record(z.string(), drivers).default({}),
  /** Whether `binding:host_id` is set to the node's name, which needs the right to do so. */
  bindHost: z.boolean().default(true),
  portSecurity: z.boolean().optional(),
  securityGroups: z.array(id).optional(),
  /** Ports made ahead, by subnet; none by default. */
  ahead: z
    .array(pool)
    .max(32)
    .refine((pools) => new Set(pools.map(({ subnet }) => subnet)).size === pools.length, "two pools have the same subnet")
    .default([]),
  /** VLANs of a node's trunk that subports may get. */
  vlans: z.strictObject({ first: z.int().min(1).max(4094), last: z.int().min(1).max(4094) }).default({ first: 1, last: 4094 }),
});

/** The settings. */
export type NeutronSettings = z.infer<typeof neutronSettings>;
/** A driver's name. */
export type NeutronDriver = z.infer<typeof drivers>;
