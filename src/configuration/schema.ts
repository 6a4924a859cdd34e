// The host configuration as a schema for tools and people: docs/reference/configuration.schema.json is made from it, and a
// test holds it to the reader that the calls use (host-configuration.ts). Not loaded on the path of a call.

import * as z from "zod";

import { readCidr } from "../net/ip.ts";
import {
  type ElementRule,
  linkPattern,
  networkPattern,
  pluginPattern,
  portRange,
  portsPattern,
  sysctlPattern,
} from "./grant-patterns.ts";
import { binDirPattern, chainNamePattern, logLevelPattern, namespacePattern, runDirPattern } from "./host-configuration.ts";
import { idleMultusKeys } from "./multus-keys.ts";

const absolutePath = z.string().regex(/^\/[^\0]*$/);
const bytes = z
  .int()
  .min(1)
  .max(16 * 1024 * 1024);

const limits = z.strictObject({
  timeMs: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe("Milliseconds that a delegate itself may compute in one call; 2000 by default."),
  memoryMiB: z.int().min(1).max(1024).optional().describe("Mebibytes of a delegate's memory; 16 by default."),
  inputBytes: bytes.optional().describe("Bytes handed to a delegate in one call; 1 MiB by default."),
  outputBytes: bytes.optional().describe("Bytes that a delegate hands over in one call; 1 MiB by default."),
  logBytes: bytes.optional().describe("Bytes of log of one call; 64 KiB by default."),
});

const directories = z.array(absolutePath).optional();

function listOf({ pattern, wanted }: ElementRule): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return z.array(z.string().regex(pattern, `must be ${wanted}`)).optional();
}

const links = z.strictObject({
  bridges: listOf(linkPattern).describe("Bridges of the node that may be made, changed and given ports; * stands for anything."),
  parents: listOf(linkPattern).describe(
    "Links of the node that a macvlan, an ipvlan or a VLAN may lie on; they aren't changed, but a macvlan in passthru mode takes all of their frames, and its MAC is theirs; * stands for anything.",
  ),
  uplinks: listOf(linkPattern).describe("Links of the node that may become ports of a granted bridge; * stands for anything."),
  networks: z
    .array(
      z
        .string()
        .regex(networkPattern.pattern, `must be ${networkPattern.wanted}`)
        .refine((text) => readCidr(text) !== undefined, "must be a network"),
    )
    .optional()
    .describe(
      "Networks in which addresses (with all of their network), neighbours and routes of the node's links must lie. Without it addresses may be of any network, and the node gets no routes.",
    ),
  podLinks: listOf(linkPattern).describe(
    "Links that may be made in the pod's namespace besides the attachment's own; * stands for anything.",
  ),
  forwarding: z.boolean().optional().describe("Whether the node's forwarding of packets may be switched on; false by default."),
  vethQueues: z
    .int()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      "For how many queues each end of a veth has room; the kernel's own number, one for each CPU, by default. A veth uses one until somebody asks for more (ethtool -L); 1 makes it sooner.",
    ),
});

const sysctl = z.strictObject({
  keys: listOf(sysctlPattern).describe(
    "Settings of the pod's namespace, as paths such as net/ipv4/conf/IFNAME/rp_filter; IFNAME stands for the attachment's interface, * for anything but /.",
  ),
  allowlist: absolutePath
    .optional()
    .describe(
      "A file as the reference tuning plugin has it, one pattern a line, which a key must match as well where it is there.",
    ),
});

const firewall = z.strictObject({
  masquerade: z.boolean().optional().describe("Whether the pod's addresses may be masqueraded; false by default."),
  hostPorts: z
    .array(z.string().regex(portsPattern.pattern).refine(isOrdered, "the range ends before it begins"))
    .optional()
    .describe("The node's ports that may be mapped, each a port or a range such as 30000-32767; none by default."),
});

function isOrdered(text: string): boolean {
  const [first, last] = portRange(text) ?? [0, 0];
  return first <= last;
}

const grants = z.strictObject({
  log: z.strictObject({}).optional().describe("Lines for the host's log."),
  leases: z
    .strictObject({
      directories: directories.describe(
        "Where leases may be kept; the first is the default; a / at the end allows what lies beneath, too.",
      ),
    })
    .optional()
    .describe("Address reservations."),
  resolver: z
    .strictObject({ files: z.array(absolutePath).optional().describe("Files in the format of resolv.conf.") })
    .optional()
    .describe("The node's name resolution settings."),
  links: links
    .optional()
    .describe("Links, addresses, routes and neighbours of the attachment; with nothing listed, none of the node's own links."),
  sysctl: sysctl.optional().describe("Settings under net in the pod's namespace: those listed."),
  firewall: firewall.optional().describe("Masquerading and port mappings of the attachment, in a table of Plexus' own."),
  announce: z.strictObject({}).optional().describe("Gratuitous ARP and neighbour advertisements for the attachment's addresses."),
  delegation: z
    .strictObject({ plugins: listOf(pluginPattern).describe("Types of the plugins that may be called; * stands for anything.") })
    .optional()
    .describe("Calls of other plugins, native or delegates, for the same attachment."),
  state: z
    .strictObject({
      directories: directories.describe(
        "Where it may be kept; the first is the default; a / at the end allows what lies beneath, too.",
      ),
    })
    .optional()
    .describe("One small text for each attachment, kept until it is removed."),
});

const wasm = z.strictObject({
  prefer: z
    .union([z.boolean(), z.array(z.string())])
    .optional()
    .describe("Whether a component wins over a native binary in the same directory: for all types, or for those listed."),
  isolation: z
    .enum(["process", "in-process"])
    .optional()
    .describe(
      "Where the delegates of a one-shot brain run; in-process by default. A daemon runs them in sandbox processes always.",
    ),
  limits: limits.optional().describe("Limits of one call of a delegate. None can be switched off."),
  grants: z
    .record(z.string(), grants)
    .optional()
    .describe(
      "What each delegate may use, by type; replaces the default: log, leases in /var/lib/cni/networks, /etc/resolv.conf. Nothing that reaches the kernel is granted by default.",
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

const pathOrEmpty = z.string().regex(/^(?:\/[^\0]*)?$/);

const kubernetes = z.strictObject({
  budgetMs: z
    .int()
    .min(1)
    .max(240_000)
    .optional()
    .describe("Milliseconds that all requests of one call to the API may take together, retries included; 20000 by default."),
  allowInsecure: z
    .boolean()
    .optional()
    .describe(
      "Whether the kubeconfig may say insecure-skip-tls-verify: whoever stands between node and API server decides then what networks a pod gets; false by default.",
    ),
});

const idle = Object.fromEntries(
  Object.entries(idleMultusKeys).map(([key, why]) => [
    key,
    z.unknown().optional().describe(`A key of Multus, accepted with a warning, without effect: ${why}.`),
  ]),
);

const common = {
  name: z.string().min(1).describe("The network's name, as the runtime knows it."),
  type: z.unknown().describe("The name under which Plexus is installed: plexus, or multus where it took that one's place."),
  cniVersion: z.string().min(1).optional().describe("Any CNI version from 0.1.0 to 1.1.0."),
  capabilities: z
    .unknown()
    .optional()
    .describe(
      "Capabilities whose arguments the runtime shall give; the default network gets all of them, no other network any. With io.kubernetes.cri.pod-annotations containerd gives the pod's annotations: no request to the API for the pod then; and without an API a selection names configurations in confDir.",
    ),
  configFile: absolutePath
    .optional()
    .describe(
      "A JSON file with further keys. Where the CNI configuration has a key too, it wins as a whole. The file can't have binDir, cniDir, configFile, runDir and what the runtime sets. Read anew by each call.",
    ),
  binDir: z
    .string()
    .regex(binDirPattern)
    .optional()
    .describe(
      "A directory of plugins that is looked into before those of CNI_PATH. Only this spelling, and only in the CNI configuration.",
    ),
  defaultNetworks: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Further networks for every pod outside systemNamespaces, each named as clusterNetwork is. A pod with the annotation plexus-cni.dev/default-networks: none gets none of them.",
    ),
  systemNamespaces: z
    .array(z.string())
    .optional()
    .describe('Namespaces whose pods get no defaultNetworks; ["kube-system"] by default. Their pods get a status like others.'),
  multusNamespace: z
    .string()
    .regex(namespacePattern)
    .optional()
    .describe(
      "The namespace of the NetworkAttachmentDefinitions that clusterNetwork and defaultNetworks name, and of those that v1.multus-cni.io/default-network names without a namespace; kube-system by default.",
    ),
  namespaceIsolation: z
    .boolean()
    .optional()
    .describe(
      "Whether a pod may only use NetworkAttachmentDefinitions of its own namespace and of globalNamespaces, as its default network too; false by default.",
    ),
  globalNamespaces: z
    .string()
    .optional()
    .describe(
      'With namespaceIsolation: the namespaces that all pods may use, joined by commas; "default" by default, "" for none.',
    ),
  readinessindicatorfile: pathOrEmpty
    .optional()
    .describe(
      "A file that exists while the default network is ready. ADD waits for it, DEL shortly, STATUS answers 50 without it.",
    ),
  readinessTimeoutMs: z
    .int()
    .min(1)
    .max(240_000)
    .optional()
    .describe("Milliseconds that an ADD waits for readinessindicatorfile, before it fails with code 11; 45000 by default."),
  readinessDelTimeoutMs: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe("Milliseconds that a DEL waits for it before it works without; 2000 by default."),
  auxiliaryCNIChainName: z
    .string()
    .regex(chainNamePattern)
    .optional()
    .describe(
      "A further chain for every pod, made of the .conf files in the directory of this name beside clusterNetwork's file, where there are any. Its first plugin gets an empty result as prevResult. It is no entry of the status.",
    ),
  confDir: absolutePath.optional().describe("Where named configurations are found; /etc/cni/multus/net.d by default."),
  cniConf: pathOrEmpty.optional().describe("What Multus' thin entrypoint calls confDir; read as that, with a warning."),
  cniDir: absolutePath.optional().describe("Journal and result cache; /var/lib/cni/plexus by default."),
  multusCniDir: absolutePath
    .optional()
    .describe("cniDir of a Multus that attached pods before; their DEL is done from it; /var/lib/cni/multus by default."),
  runDir: z
    .string()
    .regex(runDirPattern)
    .optional()
    .describe("What lives no longer than the machine is up; /run/plexus by default."),
  kubeconfig: pathOrEmpty
    .optional()
    .describe("How to reach the Kubernetes API. Without it and without manifests no pod is looked up."),
  kubernetes: kubernetes.optional().describe("Requests to the Kubernetes API."),
  manifests: absolutePath.optional().describe("A directory of Pods and NetworkAttachmentDefinitions instead of the API."),
  retryDeleteOnError: z.boolean().optional().describe("Multus' switch; here what a DEL needs is always kept until it succeeded."),
  legacyCniArgs: z
    .boolean()
    .optional()
    .describe(
      "Whether plugins get the addresses that a pod asks for in CNI_ARGS (IP=, MAC=), too, as from Multus; false by default.",
    ),
  logFile: pathOrEmpty.optional().describe("A file that log lines are appended to."),
  logLevel: z
    .string()
    .regex(logLevelPattern)
    .optional()
    .describe(
      "panic: defects of Plexus only; error: what failed, too; verbose (default): warnings and what delegates say, too; debug: every call, too. No configuration is ever logged.",
    ),
  logToStderr: z
    .boolean()
    .optional()
    .describe("Whether log lines go to stderr, and with that to the runtime's log; true by default."),
  trace: absolutePath.optional().describe("A file that gets one line of JSON for each step."),
  stepTimeoutMs: z.int().min(1).max(240_000).optional().describe("Milliseconds that one native step may take; 60000 by default."),
  goMaxProcs: z
    .int()
    .min(0)
    .max(4096)
    .optional()
    .describe(
      "GOMAXPROCS of native plugins, unless the runtime sets it: how many CPUs a plugin written in Go computes on at a time. 1 by default: it waits for the kernel more than it computes, and starting threads for other CPUs costs more than they bring. 0: left to the plugin. What a plugin starts inherits it.",
    ),
  callTimeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe(
      "Milliseconds that an ADD may take in all, its wait for a turn included; 220000 by default, because the kubelet gives up after 240000. Half of it, 60000 at most, is kept for undoing. A DEL or CHECK gets half of it, as from the kubelet; a step that undoes gets half of what is left.",
    ),
  profile: z
    .enum(["strict", "compat"])
    .optional()
    .describe("strict: the specification's letter; compat (default): what Multus' consumers expect."),
  invalidAnnotation: z
    .enum(["ignore", "fail"])
    .optional()
    .describe(
      "What becomes of a pod whose selection annotation has an invalid value: it fails (default with compat), or comes up with its default network only (default with strict).",
    ),
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
  prevResult: z
    .unknown()
    .optional()
    .describe("Set by the runtime where Plexus is not the first plugin of a list; goes to the default network's first plugin."),
  "cni.dev/valid-attachments": z.unknown().optional().describe("Set by the runtime for GC."),
  "cni.dev/attachments": z.unknown().optional().describe("Set by the runtime for GC."),
  ...idle,
};

const clusterNetwork =
  "The default network: a NetworkAttachmentDefinition in multusNamespace, else the name of a configuration in confDir; or the path of a directory, whose first configuration by name it is, or of a file.";

/** `clusterNetwork` or `delegates` says what the default network is; with both, as with Multus, the former. */
export const hostConfigurationSchema = z
  .union([
    z.strictObject({
      ...common,
      clusterNetwork: z.literal("").optional(),
      delegates: z.array(z.looseObject({})).min(1).describe("Inline networks; the first is the default network."),
    }),
    z.strictObject({
      ...common,
      clusterNetwork: z.string().min(1).describe(clusterNetwork),
      delegates: z.array(z.looseObject({})).optional().describe("Inline networks; the first is the default network."),
    }),
  ])
  .refine(({ auxiliaryCNIChainName: chain = "", clusterNetwork: named = "" }) => chain === "" || named.startsWith("/"), {
    path: ["auxiliaryCNIChainName"],
  });
