// The command line of `kubectl plexus`.

import { isOption, type ReadOptions, readOptions } from "./options.ts";

/** A `plexusctl` command and the node on which it runs. */
export interface PluginCommand {
  /** Options of kubectl itself, such as `--context prod`. */
  readonly kubectl: readonly string[];
  /** The pod whose node is meant. Without a namespace, kubectl's current one counts. */
  readonly pod?: PodName;
  readonly node?: string;
  /** The release of Plexus, as far as options name it. */
  readonly release?: { readonly namespace?: string; readonly name?: string };
  /** The arguments of plexusctl. */
  readonly control: readonly string[];
  /** Whether plexusctl gets the pod as `NAMESPACE/NAME` behind its command. */
  readonly asksPod?: true;
}

/** A pod by its name. */
export interface PodName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** The help text. */
export const usage = `kubectl plexus: runs plexusctl on a node of the cluster

  kubectl plexus POD [-n NAMESPACE] COMMAND …   on the node of this pod
  kubectl plexus node/NODE COMMAND …            on this node
  kubectl plexus probe POD NETWORK [ADDRESS…] [-n NAMESPACE]
                                                asks a network from this pod

  kubectl plexus web -n shop status
  kubectl plexus node/worker-1 doctor --prove-sandbox
  kubectl plexus node/worker-1 sysdump          writes the archive here
  kubectl plexus web -n shop explain shop/storage
  kubectl plexus probe shop/web storage 10.20.0.9

COMMAND is a command of plexusctl with its options; COMMAND help lists them.
Before COMMAND, options of kubectl are possible: --context, --kubeconfig,
--cluster, --user, --as, --server, --token, --request-timeout.
A pod that is named probe is pod/probe.
The pod is that of the DaemonSet plexus in the namespace kube-system. For another
release: --plexus-namespace and --plexus-release, or PLEXUS_NAMESPACE and
PLEXUS_RELEASE in the environment.
`;

/** The help text of the probe. */
export const probeUsage = `kubectl plexus probe POD NETWORK [ADDRESS…] [-n NAMESPACE]: asks a network from a pod

  kubectl plexus probe shop/web storage
  kubectl plexus probe web storage 10.20.0.9 -n shop -o json

POD is NAME or NAMESPACE/NAME. NETWORK is NAMESPACE/NAME of a definition, its name
alone, or the interface. ADDRESS is a further address to ask. The command runs
plexusctl probe on the pod's node; options of plexusctl stand after NETWORK, and
options of kubectl before probe. Needs the key probes in Plexus' configuration.
`;

/** Reads the arguments; `help` and `probe-help`; or `wrong`, one line about the mistake. */
export function readCommandLine(args: readonly string[]): PluginCommand | "help" | "probe-help" | { readonly wrong: string } {
  const read = readOptions(args);
  if ("wrong" in read) return read;
  const [target, ...control] = read.rest;
  if (target === undefined) return args.length === 0 ? "help" : { wrong: "give a pod or node/NODE, and a command" };
  if (target === "--help" || target === "-h") return "help";
  if (target.startsWith("-"))
    return { wrong: `${target}: unknown before the command; options of plexusctl stand after the command` };
  if (target === "probe") return readProbe(read, control);
  return readTarget(read, target, control);
}

/** Options of kubectl and the pod's namespace may stand between the target and the command. */
function readTarget(before: ReadOptions, target: string, rest: readonly string[]): ReturnType<typeof readCommandLine> {
  const between = readOptions(rest, before);
  if ("wrong" in between) return between;
  const { namespace, rest: control } = between;
  const [command] = control;
  if (command === undefined) return { wrong: `${target}: give a command of plexusctl after it, such as status` };
  if (command === "--help" || command === "-h") return "help";
  if (command.startsWith("-"))
    return { wrong: `${command}: unknown before the command; options of plexusctl stand after the command` };
  const on = /^nodes?\//.test(target) ? { node: target.slice(target.indexOf("/") + 1) } : { pod: podNamed(target, namespace) };
  return { ...placeOf(between), ...on, control };
}

/** The namespace may stand anywhere behind `probe`; all else behind NETWORK is plexusctl's. */
function readProbe(before: ReadOptions, args: readonly string[]): ReturnType<typeof readCommandLine> {
  if (args.includes("--help") || args.includes("-h")) return "probe-help";
  let read = before;
  const words: string[] = [];
  for (let left = args; left.length > 0; left = left.slice(1)) {
    const options = readOptions(left, read, words.length < 2 ? isOption : isNamespace);
    if ("wrong" in options) return options;
    read = options;
    left = options.rest;
    const [word] = left;
    if (word === undefined) break;
    if (words.length < 2 && word.startsWith("-"))
      return { wrong: `${word}: unknown before NETWORK; options of plexusctl stand after NETWORK` };
    words.push(word);
  }
  const [target, network, ...rest] = words;
  if (target === undefined || network === undefined)
    return { wrong: "probe: give POD and NETWORK after it; a pod that is named probe is pod/probe" };
  const [space, name] = /^pods?\//.test(target) || !target.includes("/") ? [undefined, target] : target.split("/");
  if (space !== undefined && read.namespace !== undefined && space !== read.namespace)
    return { wrong: `${target} is not in the namespace ${read.namespace} of -n` };
  return {
    ...placeOf(read),
    pod: podNamed(name ?? "", space ?? read.namespace),
    control: ["probe", network, ...rest],
    asksPod: true,
  };
}

function isNamespace(option: string): boolean {
  return option === "-n" || option === "--namespace";
}

function placeOf({ kubectl, release }: ReadOptions): Pick<PluginCommand, "kubectl" | "release"> {
  return { kubectl, ...(Object.keys(release).length === 0 ? {} : { release }) };
}

function podNamed(target: string, namespace: string | undefined): PodName {
  return { name: target.replace(/^pods?\//, ""), namespace };
}
