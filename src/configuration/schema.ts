// The host configuration as a schema for tools and people: docs/reference/configuration.schema.json is generated from it. A test
// compares it with the reader that calls use (host-configuration.ts). Calls do not load this file.

import * as z from "zod";

import { readCidr } from "../net/ip.ts";
import { defaultBounds, maxBound } from "./bounds.ts";
import { traceBounds, tracedCalls, tracedPodPattern } from "./chain-trace-configuration.ts";
import {
  addressPattern,
  type ElementRule,
  interfaceIdPattern,
  linkPattern,
  namePattern,
  namespacesPattern,
  networkPattern,
  pluginPattern,
  poolPattern,
  portRange,
  portsPattern,
  resultPlacePattern,
  sysctlPattern,
} from "./grant-patterns.ts";
import {
  binDirPattern,
  chainNamePattern,
  logLevelPattern,
  namespacePattern,
  profiles,
  runDirPattern,
} from "./host-configuration.ts";
import { maxRules } from "./definition-policy.ts";
import { specificationPrefix } from "./keys.ts";
import { flagPattern } from "./object-reader.ts";
import { digestPattern, digestWanted } from "../oci/digest.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { typePattern, typeWanted } from "./read-step-rules.ts";
import { keyNamePattern, keyNameWanted, keyPattern, keyWanted } from "./read-component-keys.ts";
import { defaultStepRule, failurePolicies, maxErrorCode, maxRetries } from "./step-rules.ts";
import { defaultUids, isolations, maxUid } from "./wasm-configuration.ts";

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
    .describe("Maximum computing time of a delegate in one call, in milliseconds; 2000 by default."),
  memoryMiB: z.int().min(1).max(1024).optional().describe("Maximum memory of a delegate, in mebibytes; 16 by default."),
  componentMiB: z
    .int()
    .min(1)
    .max(31)
    .optional()
    .describe("Maximum size of a component's file, in mebibytes; 4 by default. A larger component is refused."),
  coreInstances: z
    .int()
    .min(1)
    .max(128)
    .optional()
    .describe(
      "Maximum instances of core modules in one component; 12 by default. AssemblyScript and Rust have one, QuickJS has six, Python has 38.",
    ),
  admissionMs: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe(
      "Maximum computing time of a component's admission, in milliseconds; 3000 by default. A component that was admitted before is not refused for its time.",
    ),
  inputBytes: bytes.optional().describe("Maximum input of a delegate in one call, in bytes; 1 MiB by default."),
  outputBytes: bytes.optional().describe("Maximum output of a delegate in one call, in bytes; 1 MiB by default."),
  logBytes: bytes.optional().describe("Maximum log output of one call, in bytes; 64 KiB by default."),
});

const directories = z.array(absolutePath).optional();

function listOf({ pattern, wanted }: ElementRule): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return z.array(z.string().regex(pattern, `must be ${wanted}`)).optional();
}

const links = z.strictObject({
  bridges: listOf(linkPattern).describe(
    "Bridges of the node that a delegate may create, change and add ports to; * is a wildcard.",
  ),
  parents: listOf(linkPattern).describe(
    "Links of the node that may be the parent of a macvlan, an ipvlan or a VLAN; * is a wildcard. Parents are not changed, but a macvlan in passthru mode takes all their frames and shares their MAC.",
  ),
  uplinks: listOf(linkPattern).describe("Links of the node that may become ports of a granted bridge; * is a wildcard."),
  networks: z
    .array(
      z
        .string()
        .regex(networkPattern.pattern, `must be ${networkPattern.wanted}`)
        .refine((text) => readCidr(text) !== undefined, "must be a network"),
    )
    .optional()
    .describe(
      "Networks that must contain the addresses (with their whole prefix), neighbours and routes of the node's links. Without this key any address is allowed, and the node gets no routes.",
    ),
  podNetworks: z
    .array(
      z
        .string()
        .regex(networkPattern.pattern, `must be ${networkPattern.wanted}`)
        .refine((text) => readCidr(text) !== undefined, "must be a network"),
    )
    .optional()
    .describe(
      "Networks that must contain the addresses (with their whole prefix) of the pod's links. Without this key a pod may get any address, also one of another network on a granted bridge.",
    ),
  nodeAddresses: z
    .array(
      z
        .string()
        .regex(addressPattern.pattern, `must be ${addressPattern.wanted}`)
        .refine((text) => readCidr(text) !== undefined, "must be an address with a prefix length"),
    )
    .optional()
    .describe(
      "Addresses, each with its prefix length, that a delegate may add to the node's links or remove. Without this key any address is allowed that networks allows.",
    ),
  replaceAddresses: z
    .boolean()
    .optional()
    .describe("Whether a delegate may replace an address of the node by another one (forceAddress); true by default."),
  podLinks: listOf(linkPattern).describe(
    "Links that a delegate may create in the pod's network namespace besides the attachment's own; * is a wildcard.",
  ),
  forwarding: z.boolean().optional().describe("Whether a delegate may switch on the node's IP forwarding; false by default."),
  vethQueues: z
    .int()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      "Maximum number of queues of each end of a veth; the kernel's default is one for each CPU. A veth uses one queue until ethtool -L sets more; the value 1 makes its creation faster.",
    ),
});

const sysctl = z.strictObject({
  keys: listOf(sysctlPattern).describe(
    "Sysctls of the pod's network namespace, as paths such as net/ipv4/conf/IFNAME/rp_filter; IFNAME stands for the attachment's interface, * for anything but /.",
  ),
  allowlist: absolutePath
    .optional()
    .describe(
      "An allow-list of the reference tuning plugin, with one pattern in each line. If the file exists, a key must match one of its patterns too.",
    ),
});

const ovs = z.strictObject({
  bridges: listOf(linkPattern).describe(
    "Bridges of Open vSwitch that a delegate may add ports to; * is a wildcard. None by default.",
  ),
  socket: absolutePath
    .optional()
    .describe(
      "OVSDB's Unix socket; /run/openvswitch/db.sock by default. A daemon in a container needs the socket's directory mounted.",
    ),
  interfaceIds: listOf(interfaceIdPattern).describe(
    "Interface IDs (external_ids:iface-id) that a delegate may use besides that of the attachment's external port; * is a wildcard. None by default.",
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
        "Directories for leases; the first is the default. A trailing / also allows the directories below.",
      ),
      pools: listOf(poolPattern).describe(
        "AddressPools of the cluster that a network's ipam.pool may name; * is a wildcard. None by default.",
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
    .describe("Links, addresses, routes and neighbours of the attachment. The node's own links only if they are listed."),
  sysctl: sysctl.optional().describe("The listed sysctls under net in the pod's network namespace."),
  firewall: firewall.optional().describe("Masquerading and port mappings of the attachment, in Plexus' own nftables table."),
  announce: z.strictObject({}).optional().describe("Gratuitous ARP and neighbour advertisements for the attachment's addresses."),
  delegation: z
    .strictObject({ plugins: listOf(pluginPattern).describe("Types of the plugins that a delegate may call; * is a wildcard.") })
    .optional()
    .describe("Calls of other plugins, native or delegates, for the same attachment."),
  state: z
    .strictObject({
      directories: directories.describe(
        "Directories for state; the first is the default. A trailing / also allows the directories below.",
      ),
    })
    .optional()
    .describe("One small text for each attachment, kept until the attachment is removed."),
  ovs: ovs.optional().describe("Ports of Open vSwitch for links of the attachment, at the listed bridges."),
  result: z
    .strictObject({
      change: listOf(resultPlacePattern).describe(
        "Places such as dns, routes or ips/*/gateway, each with everything within it; * stands for an element of a list. An absent list allows every change.",
      ),
    })
    .optional()
    .describe(
      "No capability, but a bound: where the answer to ADD may differ from prevResult. Any other difference fails the ADD.",
    ),
});

const keyName = z.string().regex(keyNamePattern, `must be ${keyNameWanted}`);

/** The grants of `wasm.grants`, which may also say what the component itself must be. */
const demandingGrants = grants.extend({
  digest: z
    .string()
    .regex(digestPattern, `must be ${digestWanted}`)
    .optional()
    .describe("SHA-256 of the component's file. A component with other bytes is refused, in definitions' networks, too."),
  signedBy: keyName
    .optional()
    .describe(
      "Name of the key in wasm.keys that must have signed the component's manifest (cosign). The signature stands in TYPE.wasm.signatures.json beside the component, where plexusctl component pull puts it.",
    ),
  require: z
    .literal(false)
    .optional()
    .describe("Exempts the type from wasm.require. A digest or signedBy of the type's own also takes the place of wasm.require."),
});

const requirement = z
  .strictObject({
    signedBy: z.array(keyName).optional().describe("Names of keys in wasm.keys. A signature by one of them is enough."),
    digests: z
      .array(z.string().regex(digestPattern, `must be ${digestWanted}`))
      .optional()
      .describe("SHA-256 of the files of components that may run without a signature."),
  })
  .refine(({ signedBy = [], digests = [] }) => signedBy.length + digests.length > 0);

const wasm = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe(
        "false: the emergency switch. No component is examined or run; a step whose plugin is a component fails with code 11 (WASM_DISABLED), and its DEL is repeated until the switch is on again. Native plugins are not affected.",
      ),
    prefer: z
      .union([z.boolean(), z.array(z.string())])
      .optional()
      .describe(
        "Whether a component takes precedence over a native binary in the same directory: for all types, or for the listed ones.",
      ),
    isolation: z
      .enum(isolations)
      .optional()
      .describe(
        "Where delegates are examined and run; process by default: in sandbox processes, in a jail with every control that the node has. in-process: in the process of a one-shot engine, which is faster, but a delegate that breaks out of V8 then has the engine's rights, usually root's. strict: the same, in a process for each call, and refused with code 11 if a control is missing. A daemon always runs them in sandbox processes.",
      ),
    sandboxUids: z
      .union([
        z.literal("same"),
        z
          .strictObject({
            first: z.int().min(1).max(maxUid).describe("The first uid."),
            count: z
              .int()
              .min(1)
              .max(maxUid)
              .describe("The number of uids. With fewer uids than the kernel's pid_max, two processes may have the same uid."),
          })
          .refine(({ first, count }) => first + count - 1 <= maxUid),
      ])
      .optional()
      .describe(
        `The uids, and gids of the same numbers, of a one-shot engine's sandbox processes: ${defaultUids.count} from ${defaultUids.first} by default. No other process may have them. "same": the engine's own uid. A daemon has the option --sandbox-uids.`,
      ),
    limits: limits.optional().describe("Limits of one call of a delegate. No limit can be switched off."),
    keys: z
      .record(keyName, z.string().regex(keyPattern, `must be ${keyWanted}`))
      .optional()
      .describe(
        "Public keys that sign components, by name. The value is the key in PEM (ECDSA on P-256 as cosign makes it, or RSA), or the absolute path of such a file, which the engine must be able to read.",
      ),
    require: requirement
      .optional()
      .describe(
        "A demand on every component of the node: it must be signed by one of the keys, or have one of the digests. The demand also holds for the components that Plexus brings and for definitions' networks. A type's own digest or signedBy in grants takes its place, and require: false there exempts the type.",
      ),
    grants: z
      .record(z.string(), demandingGrants)
      .optional()
      .describe(
        "Capabilities of each delegate, by type. They replace the default: log, leases in /var/lib/cni/networks, /etc/resolv.conf. The default grants nothing that changes the kernel's state.",
      ),
  })
  .refine(({ keys = {}, grants: granted = {}, require: required = {} }) =>
    [...Object.values(granted).map(({ signedBy }) => signedBy), ...(required.signedBy ?? [])].every(
      (name) => name === undefined || Object.hasOwn(keys, name),
    ),
  );

const namespacePatterns = z.array(z.string().regex(namespacesPattern.pattern, `must be ${namespacesPattern.wanted}`));
const allowedValues = z.union([z.literal("*"), z.array(z.union([z.string(), z.number(), z.boolean()]))]);
const allowedTypes = z.record(z.string(), z.union([z.literal("*"), z.record(z.string(), allowedValues)])).optional();

const pluginType = z.string().regex(typePattern, `must be ${typeWanted}`);

const stepRule = z
  .strictObject({
    failure: z
      .enum(failurePolicies)
      .optional()
      .describe(
        "Effect of a failed step. closed (default): the chain fails. open: the chain goes on with the unchanged result, after a DEL of the step; it does not hold for the first plugin of a list. retry: the step is tried again, after a DEL of the step, and then fails.",
      ),
    retries: z
      .int()
      .min(1)
      .max(maxRetries)
      .optional()
      .describe(`Maximum number of further tries with retry; ${defaultStepRule.retries} by default.`),
    retryOn: z
      .array(z.int().min(1).max(maxErrorCode))
      .min(1)
      .optional()
      .describe(`CNI error codes of the plugin that are tried again; [${defaultStepRule.retryOn.join(", ")}] by default.`),
    shadow: pluginType
      .optional()
      .describe(
        "Type of a component that runs beside the native plugin of this type, without effects. It may be the same type. The pod gets the native plugin's result; a difference is counted and logged.",
      ),
  })
  .refine(({ failure, retries, retryOn }) => failure === "retry" || (retries === undefined && retryOn === undefined), {
    message: 'retries and retryOn need "failure": "retry"',
  });

const stepRules = z.record(pluginType, stepRule);

const definitionRule = z.strictObject({
  namespaces: namespacePatterns.describe("Namespaces of definitions; * is a wildcard."),
  native: allowedTypes.describe(
    'Native plugins by type. The value is "*" for any configuration, or an object of the keys that the configuration may have, each with "*" or a list of values.',
  ),
  ipam: allowedTypes.describe("Native IPAM plugins by type, and the keys that ipam may have, in the same form as native."),
  grants: z
    .record(z.string(), grants)
    .optional()
    .describe(
      "Capabilities of each delegate, by type, as in wasm.grants. links needs networks and nodeAddresses for anything that it gives to the node, and replaceAddresses to replace an address.",
    ),
  files: listOf(namePattern).describe("Networks in confDir that a definition without a configuration may name; * is a wildcard."),
  pools: listOf(namePattern).describe(
    "Network names that definitions share with others of this name: they use the same leases; * is a wildcard.",
  ),
  steps: stepRules.optional().describe("Rules for the steps of these definitions' networks, by plugin type, as in steps."),
});

const definitions = z.strictObject({
  trusted: namespacePatterns
    .optional()
    .describe(
      "Namespaces whose definitions count as the administrator's own; * is a wildcard. By default multusNamespace, with the profile multus every namespace.",
    ),
  rules: z
    .array(definitionRule)
    .min(1)
    .max(maxRules)
    .optional()
    .describe(
      "Rules for the definitions of further namespaces. Without a rule: components with the default grants, no native plugin.",
    ),
});

const deletion = z.strictObject({
  tries: z.int().min(1).max(1000).optional().describe("Number of failed DELs of one pod; 10 by default."),
  seconds: z
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe("Seconds after the first failed DEL, if the pod's network namespace still exists; 300 by default."),
});

const gc = z.strictObject({
  seconds: z
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe("Maximum duration of one GC, in seconds, which leaves the rest to the next GC; 60 by default."),
  dryRun: z.boolean().optional().describe("True: GC only reports on stderr what it would do; false by default."),
});

const bounds = z.strictObject({
  pluginsPerNetwork: z
    .int()
    .min(1)
    .max(maxBound)
    .optional()
    .describe(`Maximum plugins in one configuration list; ${defaultBounds.pluginsPerNetwork} by default.`),
  attachmentsPerPod: z
    .int()
    .min(1)
    .max(maxBound)
    .optional()
    .describe(
      `Maximum attachments of a pod, with the default network and the administrator's further networks; ${defaultBounds.attachmentsPerPod} by default.`,
    ),
});

const pathOrEmpty = z.string().regex(/^(?:\/[^\0]*)?$/);

const kubernetes = z.strictObject({
  budgetMs: z
    .int()
    .min(1)
    .max(240_000)
    .optional()
    .describe("Total time for one call's requests to the API, retries included, in milliseconds; 20000 by default."),
  allowInsecure: z
    .boolean()
    .optional()
    .describe(
      "Whether the kubeconfig may have insecure-skip-tls-verify; false by default. With it, an attacker between node and API server can choose a pod's networks.",
    ),
  resourceClaims: z
    .boolean()
    .optional()
    .describe(
      "Whether a pod's resource claims (resource.k8s.io/v1) give networks their devices, besides the kubelet; false by default. Only with the Kubernetes API, not with manifests. Needs the rights to get resourceclaims and to list resourceslices.",
    ),
});

const idle = Object.fromEntries(
  Object.entries(idleMultusKeys).map(([key, why]) => [
    key,
    z.unknown().optional().describe(`A key of Multus that has no effect; it is accepted with a warning: ${why}.`),
  ]),
);

/** A boolean as libcni reads it in a list. */
const flag = z.union([z.boolean(), z.string().regex(flagPattern)]).optional();

const common = {
  name: z.string().min(1).describe("The network's name for the runtime."),
  type: z.unknown().describe("The name under which Plexus is installed: plexus, or multus if Plexus replaces Multus."),
  cniVersion: z.string().optional().describe("Any CNI version from 0.1.0 to 1.1.0; empty or missing means 0.1.0."),
  capabilities: z
    .unknown()
    .optional()
    .describe(
      "Capabilities whose arguments the runtime passes. Only the default network gets them. With io.kubernetes.cri.pod-annotations containerd passes the pod's annotations, so the pod is not read from the API; without an API a selection then names configurations in confDir.",
    ),
  configFile: absolutePath
    .optional()
    .describe(
      "A JSON file with further keys, which each call reads again. A key of the CNI configuration replaces the file's key as a whole. The file can't have binDir, cniDir, configFile, runDir and the keys that the runtime sets.",
    ),
  binDir: z
    .string()
    .regex(binDirPattern)
    .optional()
    .describe(
      "A plugin directory that is searched before those of CNI_PATH. Only this spelling is read, and only in the CNI configuration.",
    ),
  defaultNetworks: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Further networks for every pod outside systemNamespaces, named in the same way as clusterNetwork. A pod with the annotation plexus.dev/default-networks: none gets none of them.",
    ),
  systemNamespaces: z
    .array(z.string())
    .optional()
    .describe(
      'Namespaces whose pods get no defaultNetworks, and the default network whatever state the PodNetwork "default" is in; ["kube-system"] by default. Their pods get a status like all others.',
    ),
  multusNamespace: z
    .string()
    .regex(namespacePattern)
    .optional()
    .describe(
      "The namespace of the NetworkAttachmentDefinitions that clusterNetwork and defaultNetworks name, and of those that v1.multus-cni.io/default-network names without a namespace; kube-system by default.",
    ),
  retired: z
    .boolean()
    .optional()
    .describe(
      "Whether Plexus is being removed; false by default. With true an ADD attaches only the default network, as the runtime would without Plexus; DELs of earlier pods undo all that is journalled.",
    ),
  omitDefaultSteps: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Plugin types whose steps of the default network's list are left out, because the runtime's list has a step of that type after Plexus; none by default. plexusd sets the key.",
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
      'With namespaceIsolation: a comma-separated list of the namespaces that all pods may use; "default" by default, "" for none.',
    ),
  podNetworks: z
    .boolean()
    .optional()
    .describe(
      "Whether pods' networks come from PodNetworks (KEP-3698) of the Kubernetes API, too; false by default. Needs the chart's networks.enabled.",
    ),
  hotPlug: z
    .boolean()
    .optional()
    .describe(
      "Whether the daemon attaches and detaches networks of running pods when their annotation k8s.v1.cni.cncf.io/networks changes; false by default. Needs the daemon and the agent, and holds for pods that are attached with it.",
    ),
  externalPorts: z
    .boolean()
    .optional()
    .describe(
      "Whether definitions may name a provider of ports in an outer fabric, for which an ADD waits; false by default. Needs the chart's externalPorts.enabled.",
    ),
  readinessindicatorfile: pathOrEmpty
    .optional()
    .describe(
      "A file that exists while the default network is ready. ADD waits for it, DEL waits briefly, STATUS answers code 50 without it.",
    ),
  readinessTimeoutMs: z
    .int()
    .min(1)
    .max(240_000)
    .optional()
    .describe(
      "Maximum wait of an ADD for readinessindicatorfile, in milliseconds; then it fails with code 11. 45000 by default.",
    ),
  readinessDelTimeoutMs: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe("Maximum wait of a DEL for readinessindicatorfile, in milliseconds; then it proceeds without. 2000 by default."),
  auxiliaryCNIChainName: z
    .string()
    .regex(chainNamePattern)
    .optional()
    .describe(
      "A further chain for every pod: the .conf files in the directory of this name beside clusterNetwork's file, if any. Its first plugin gets an empty result as prevResult. The status has no entry for it.",
    ),
  confDir: absolutePath.optional().describe("Directory of named configurations; /etc/cni/multus/net.d by default."),
  cniConf: pathOrEmpty.optional().describe("The name of confDir in Multus' thin entrypoint; read as confDir, with a warning."),
  cniDir: absolutePath.optional().describe("Directory of journal and result cache; /var/lib/cni/plexus by default."),
  multusCniDir: absolutePath
    .optional()
    .describe("cniDir of a Multus that attached pods before; their DEL needs it; /var/lib/cni/multus by default."),
  runDir: z
    .string()
    .regex(runDirPattern)
    .optional()
    .describe("Directory for state that a restart of the machine may remove; /run/plexus by default."),
  kubeconfig: pathOrEmpty
    .optional()
    .describe("The kubeconfig for the Kubernetes API. Without kubeconfig and manifests no pod is looked up."),
  kubernetes: kubernetes.optional().describe("Requests to the Kubernetes API."),
  manifests: absolutePath.optional().describe("A directory of Pods and NetworkAttachmentDefinitions instead of the API."),
  retryDeleteOnError: z
    .boolean()
    .optional()
    .describe("A key of Multus. Plexus always keeps what a DEL needs until the DEL has succeeded."),
  legacyCniArgs: z
    .boolean()
    .optional()
    .describe(
      "Whether plugins also get the addresses that a pod requests in CNI_ARGS (IP=, MAC=), as from Multus; false by default.",
    ),
  logFile: pathOrEmpty.optional().describe("A file to which log lines are appended."),
  logLevel: z
    .string()
    .regex(logLevelPattern)
    .optional()
    .describe(
      "panic: only defects of Plexus; error: also failures; verbose (default): also warnings and delegates' log lines; debug: also every call. Configurations are never logged.",
    ),
  logToStderr: z
    .boolean()
    .optional()
    .describe("Whether log lines go to stderr, which the runtime copies to its log; true by default."),
  trace: absolutePath.optional().describe("A file that gets one line of JSON for each step."),
  chainTrace: z
    .strictObject({
      calls: z
        .enum(tracedCalls)
        .describe("Whether all calls are recorded, or only those that fail. A STATUS is recorded only if it fails."),
      pods: z
        .array(z.string().regex(tracedPodPattern, "must be NAMESPACE/NAME of a pod"))
        .optional()
        .describe("Pods as NAMESPACE/NAME, in which * is a wildcard; without this key every container."),
      directory: absolutePath.optional().describe("The directory of the traces (mode 0700); traces in cniDir by default."),
      maxFiles: z
        .int()
        .min(1)
        .max(traceBounds.mostFiles)
        .optional()
        .describe(`Maximum traces in the directory, ${traceBounds.maxFiles} by default. The oldest are removed.`),
      maxMiB: z
        .int()
        .min(1)
        .max(traceBounds.mostMiB)
        .optional()
        .describe(`Maximum size of the directory's traces, in mebibytes; ${traceBounds.maxMiB} by default.`),
    })
    .optional()
    .describe("Writes a chain trace of each call: one file with every step's input, output and imports, for plexusctl trace."),
  stepTimeoutMs: z
    .int()
    .min(1)
    .max(240_000)
    .optional()
    .describe("Maximum duration of one native step, in milliseconds; 60000 by default."),
  goMaxProcs: z
    .int()
    .min(0)
    .max(4096)
    .optional()
    .describe(
      "GOMAXPROCS of native plugins, unless the runtime sets it: the number of CPUs that a plugin written in Go uses at a time. 1 by default: such a plugin mostly waits for the kernel, and threads for more CPUs cost more than they save. 0: Plexus sets none. Child processes of a plugin inherit it.",
    ),
  callTimeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe(
      "Maximum duration of an ADD, including its wait for a turn, in milliseconds; 220000 by default, because the kubelet gives up after 240000. Half of it, at most 60000, is reserved for undoing. A DEL or CHECK gets half of it, as the kubelet does; a step that undoes gets half of the remaining time.",
    ),
  profile: z
    .enum(profiles)
    .optional()
    .describe(
      "strict: exactly as the specification says; compat (default): as consumers of Multus expect; multus: as compat, and every definition may do what Multus allows.",
    ),
  invalidAnnotation: z
    .enum(["ignore", "fail"])
    .optional()
    .describe(
      "Effect of an invalid selection annotation: fail fails the pod (default with compat), ignore starts it with its default network only (default with strict).",
    ),
  del: deletion.optional().describe("When a repeatedly failing DEL is given up, so that the pod's sandbox can be removed."),
  check: z
    .enum(["all", "default"])
    .optional()
    .describe("Attachments that CHECK examines: all of the pod's (default), or the default network's."),
  gc: gc.optional().describe("Settings of GC."),
  bounds: bounds
    .optional()
    .describe("Bounds of an ADD, because authors of annotations and definitions would otherwise decide how long it takes."),
  steps: stepRules
    .optional()
    .describe(
      "Rules for the steps of the administrator's networks, by plugin type. Definitions of other namespaces than the trusted ones get theirs from definitions.rules.",
    ),
  wasm: wasm.optional().describe("Settings of sandboxed delegates."),
  definitions: definitions.optional().describe("The policy for NetworkAttachmentDefinitions."),
  disableCheck: flag.describe(
    "Whether CHECK succeeds without a step, for all networks of pods. A runtime reads this key of a list, and plexusd writes it there.",
  ),
  disableGC: flag.describe(
    "Whether GC and plexusd's rounds leave all attachments and networks alone. A runtime reads this key of a list, and plexusd writes it there.",
  ),
  args: z.unknown().optional().describe("Set by the runtime."),
  runtimeConfig: z.unknown().optional().describe("Set by the runtime; passed to the default network."),
  prevResult: z
    .unknown()
    .optional()
    .describe("Set by the runtime if Plexus is not the first plugin of a list; passed to the default network's first plugin."),
  "cni.dev/valid-attachments": z.unknown().optional().describe("Set by the runtime for GC."),
  "cni.dev/attachments": z.unknown().optional().describe("Set by the runtime for GC."),
  ...idle,
};

/** An object without unknown keys, but for the specification's own. */
function strictButForSpecification<T extends z.ZodRawShape>(shape: T): ReturnType<typeof z.looseObject<T>> {
  return z
    .looseObject(shape)
    .superRefine((value, context) => {
      for (const key of Object.keys(value)) {
        if (!Object.hasOwn(shape, key) && !key.startsWith(specificationPrefix)) {
          context.addIssue({ code: "unrecognized_keys", keys: [key], input: value });
        }
      }
    })
    .meta({ additionalProperties: false, patternProperties: { [`^${specificationPrefix.replace(".", "\\.")}`]: {} } });
}

const clusterNetwork =
  "The default network: a NetworkAttachmentDefinition in multusNamespace, else the name of a configuration in confDir; or the path of a file; or the path of a directory, whose first configuration by name is used.";

/** `clusterNetwork` or `delegates` names the default network; with both, the former wins, as in Multus. */
export const hostConfigurationSchema = z
  .union([
    strictButForSpecification({
      ...common,
      clusterNetwork: z.literal("").optional(),
      delegates: z.array(z.looseObject({})).min(1).describe("Inline networks; the first is the default network."),
    }),
    strictButForSpecification({
      ...common,
      clusterNetwork: z.string().min(1).describe(clusterNetwork),
      delegates: z.array(z.looseObject({})).optional().describe("Inline networks; the first is the default network."),
    }),
  ])
  .refine(({ auxiliaryCNIChainName: chain = "", clusterNetwork: named = "" }) => chain === "" || named.startsWith("/"), {
    path: ["auxiliaryCNIChainName"],
  });
