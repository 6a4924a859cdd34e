// The host configuration as a schema for tools and people: docs/reference/configuration.schema.json is made from it, and a
// test holds it to the reader that the calls use (host-configuration.ts). Not loaded on the path of a call.

import * as z from "zod";

import { runDirPattern } from "./host-configuration.ts";

const absolutePath = z.string().regex(/^\/[^\0]*$/);
const bytes = z
  .int()
  .min(1)
  .max(16 * 1024 * 1024);

const limits = z.strictObject({
  timeMs: z.int().min(1).max(60_000).optional().describe("Milliseconds of one call of a delegate; 2000 by default."),
  memoryMiB: z.int().min(1).max(1024).optional().describe("Mebibytes of a delegate's memory; 16 by default."),
  inputBytes: bytes.optional().describe("Bytes handed to a delegate in one call; 1 MiB by default."),
  outputBytes: bytes.optional().describe("Bytes that a delegate hands over in one call; 1 MiB by default."),
  logBytes: bytes.optional().describe("Bytes of log of one call; 64 KiB by default."),
});

const grants = z.strictObject({
  log: z.strictObject({}).optional().describe("Lines for the host's log."),
  leases: z
    .strictObject({
      directories: z
        .array(absolutePath)
        .optional()
        .describe("Where leases may be kept; the first is the default; a / at the end allows what lies beneath, too."),
    })
    .optional()
    .describe("Address reservations."),
  resolver: z
    .strictObject({ files: z.array(absolutePath).optional().describe("Files in the format of resolv.conf.") })
    .optional()
    .describe("The node's name resolution settings."),
});

const wasm = z.strictObject({
  prefer: z
    .union([z.boolean(), z.array(z.string())])
    .optional()
    .describe("Whether a component wins over a native binary in the same directory: for all types, or for those listed."),
  isolation: z.enum(["process", "in-process"]).optional().describe("Where delegates run; in-process by default."),
  limits: limits.optional().describe("Limits of one call of a delegate. None can be switched off."),
  grants: z
    .record(z.string(), grants)
    .optional()
    .describe(
      "What each delegate may use, by type; replaces the default: log, leases in /var/lib/cni/networks, /etc/resolv.conf.",
    ),
});

const deletion = z.strictObject({
  tries: z.int().min(1).max(1000).optional().describe("Failed DELs of one pod; 10 by default."),
  seconds: z
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe("Seconds since the first of them, while the pod's namespace is there; 300 by default."),
});

const gc = z.strictObject({
  seconds: z.int().min(1).max(3600).optional().describe("Seconds after which GC leaves the rest to the next one; 60 by default."),
  dryRun: z.boolean().optional().describe("True: GC only tells on stderr what it would do; false by default."),
});

const common = {
  name: z.string().min(1).describe("The network's name, as the runtime knows it."),
  type: z.unknown().describe("plexus"),
  cniVersion: z.string().min(1).optional().describe("Any CNI version from 0.1.0 to 1.1.0."),
  capabilities: z.unknown().optional().describe("Capabilities that the runtime shall pass on to the default network."),
  confDir: absolutePath.optional().describe("Where named configurations are found; /etc/cni/multus/net.d by default."),
  cniDir: absolutePath.optional().describe("Journal and result cache; /var/lib/cni/plexus by default."),
  runDir: z
    .string()
    .regex(runDirPattern)
    .optional()
    .describe("What lives no longer than the machine is up; /run/plexus by default."),
  manifests: absolutePath.optional().describe("A directory of Pods and NetworkAttachmentDefinitions instead of the API."),
  trace: absolutePath.optional().describe("A file that gets one line of JSON for each step."),
  stepTimeoutMs: z.int().min(1).max(240_000).optional().describe("Milliseconds that one native step may take; 60000 by default."),
  profile: z
    .enum(["strict", "compat"])
    .optional()
    .describe("strict: the specification's letter; compat (default): what Multus' consumers expect."),
  del: deletion.optional().describe("When a DEL that goes on failing is given up, so that the pod's sandbox can go."),
  check: z
    .enum(["all", "default"])
    .optional()
    .describe("Which attachments CHECK looks at: all of the pod's (default), or the default network's."),
  gc: gc.optional().describe("How GC works."),
  wasm: wasm.optional().describe("Sandboxed delegates."),
  disableCheck: z.unknown().optional().describe("As in a configuration list: read by the runtime."),
  disableGC: z.unknown().optional().describe("As in a configuration list: read by the runtime."),
  args: z.unknown().optional().describe("Set by the runtime."),
  runtimeConfig: z.unknown().optional().describe("Set by the runtime; goes to the default network."),
  prevResult: z.unknown().optional().describe("Set by the runtime."),
  "cni.dev/valid-attachments": z.unknown().optional().describe("Set by the runtime for GC."),
  "cni.dev/attachments": z.unknown().optional().describe("Set by the runtime for GC."),
};

/** Exactly one of `delegates` and `clusterNetwork` says what the default network is. */
export const hostConfigurationSchema = z.union([
  z.strictObject({
    ...common,
    delegates: z.array(z.looseObject({})).min(1).describe("Inline networks; the first is the default network."),
  }),
  z.strictObject({
    ...common,
    clusterNetwork: z.string().min(1).describe("The default network: a name in confDir, a directory, or a file."),
  }),
]);
