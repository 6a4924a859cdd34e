// The messages of a provider over HTTP as a schema, from which docs/reference/provider.schema.json is made. The controller reads answers with
// readProvidedPort; a test compares both.

import { z } from "zod";

const text = (maxLength: number): z.ZodString => z.string().min(1).max(maxLength);
const address = z.union([z.ipv4(), z.ipv6()]);
const cidr = z.union([z.cidrv4(), z.cidrv6()]);
const mac = z.string().regex(/^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$/);
const owner = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,39}$/)
  .describe("This cluster's name at the provider.");
const key = text(200).describe("Unique for ever: NAMESPACE/NAME of the ExternalPort, whose name has the pod's UID.");

const binding = z
  .union([
    z.object({
      type: z.literal("ovs"),
      interfaceId: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/)
        .describe("external_ids:iface-id of the Open vSwitch port."),
    }),
    z.object({ type: z.literal("vlan"), vlan: z.int().min(1).max(4094).describe("The VLAN of the node's trunk.") }),
    z.object({ type: z.literal("address-only") }),
  ])
  .describe("How a node plugs the port.");

/** A port in an answer to `ensure`. */
export const portMessage = z
  .object({
    providerId: text(253).describe("The provider's name of the port."),
    mac,
    addresses: z.array(z.object({ address: cidr.describe("With the prefix length."), gateway: address.optional() })).max(32),
    routes: z
      .array(z.object({ dst: cidr, gw: address.optional() }))
      .max(64)
      .optional(),
    mtu: z.int().min(68).max(65_535).optional(),
    binding,
  })
  .meta({ id: "Port" });

const request = z
  .object({
    key,
    pod: z.object({ namespace: text(63), name: text(253), uid: text(253) }),
    nodeName: text(253),
    parameters: z
      .record(z.string(), z.unknown())
      .describe("The definition's parameters, at most 8 KiB. Their author may be hostile."),
    requested: z.object({ mac: mac.optional(), ips: z.array(address).max(32).optional() }),
  })
  .meta({ id: "PortRequest" });

const ownedPort = z
  .object({ key, providerId: z.string().max(253).describe("Empty if the controller never saw the port.") })
  .meta({ id: "OwnedPort" });

/** The messages by name: the body and the answer of each operation, and the body of an error. */
export const providerMessages = {
  EnsureRequest: z.object({ owner, request }).meta({ id: "EnsureRequest" }),
  EnsureAnswer: z.object({ port: portMessage }).meta({ id: "EnsureAnswer" }),
  ReleaseRequest: z.object({ owner, port: ownedPort }).meta({ id: "ReleaseRequest" }),
  ReleaseAnswer: z.object({}).meta({ id: "ReleaseAnswer" }),
  ListRequest: z.object({ owner }).meta({ id: "ListRequest" }),
  ListAnswer: z.object({ ports: z.array(ownedPort) }).meta({ id: "ListAnswer" }),
  ActiveRequest: z.object({ owner, port: ownedPort }).meta({ id: "ActiveRequest" }),
  ActiveAnswer: z.object({ active: z.boolean() }).meta({ id: "ActiveAnswer" }),
  Error: z.object({ message: text(500).describe("Becomes a part of the ExternalPort's condition.") }).meta({ id: "Error" }),
} as const;
