// The requests of plexus-controller, as far as this provider reads them. docs/reference/provider.schema.json has all messages.

import { z } from "zod";

const owner = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/);
/** A tag's value has 256 characters at most, and a key becomes one. */
const key = z
  .string()
  .max(256)
  .regex(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,192}$/);
const ownedPort = z.object({ key, providerId: z.string().max(253) });

/** The bodies by operation. */
export const requests = {
  ensure: z.object({
    owner,
    request: z.object({
      key,
      nodeName: z.string().min(1).max(253),
      /** A definition's author may be hostile: an unknown parameter is refused. */
      parameters: z.strictObject({
        subnetId: z
          .string()
          .regex(/^subnet-[0-9a-f]{1,17}$/)
          .optional(),
        deviceIndex: z.int().min(0).max(31).optional(),
      }),
      requested: z.object({
        mac: z
          .string()
          .regex(/^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$/)
          .optional(),
        ips: z
          .array(z.union([z.ipv4(), z.ipv6()]))
          .max(32)
          .optional(),
      }),
    }),
  }),
  release: z.object({ owner, port: ownedPort }),
  list: z.object({ owner }),
  active: z.object({ owner, port: ownedPort }),
} as const;

/** A port that is wanted. */
export type PortRequest = z.infer<typeof requests.ensure>["request"];
/** A port of this provider. */
export type OwnedPort = z.infer<typeof ownedPort>;

/** A port as plexus-controller reads it. */
export interface Port {
  readonly providerId: string;
  readonly mac: string;
  readonly addresses: readonly { readonly address: string; readonly gateway: string }[];
  readonly binding: { readonly type: "address-only" };
}
