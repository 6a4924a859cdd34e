// The command line of `kubectl plexus`.

/** A `plexusctl` command and the node on which it runs. */
export interface PluginCommand {
  /** Options of kubectl itself, such as `--context prod`. */
  readonly kubectl: readonly string[];
  /** The pod whose node is meant. Without a namespace, kubectl's current one counts. */
  readonly pod?: { readonly name: string; readonly namespace: string | undefined };
  readonly node?: string;
  /** The release of Plexus, as far as options name it. */
  readonly release?: { readonly namespace?: string; readonly name?: string };
  /** The arguments of plexusctl. */
  readonly control: readonly string[];
}

/** The help text. */
export const usage = `kubectl plexus: runs plexusctl on a node of the cluster

  kubectl plexus POD [-n NAMESPACE] COMMAND …   on the node of this pod
  kubectl plexus node/NODE COMMAND …            on this node

  kubectl plexus web -n shop status
  kubectl plexus node/worker-1 doctor --prove-sandbox
  kubectl plexus node/worker-1 sysdump          writes the archive here
  kubectl plexus web -n shop explain shop/storage

COMMAND is a command of plexusctl with its options; COMMAND help lists them.
Before COMMAND, options of kubectl are possible: --context, --kubeconfig,
--cluster, --user, --as, --server, --token, --request-timeout.
The pod is that of the DaemonSet plexus in the namespace kube-system. For another
release: --plexus-namespace and --plexus-release, or PLEXUS_NAMESPACE and
PLEXUS_RELEASE in the environment.
`;

const releaseOptions: Readonly<Record<string, "namespace" | "name">> = {
  "--plexus-namespace": "namespace",
  "--plexus-release": "name",
};
const kubectlOptions = [
  "--context",
  "--kubeconfig",
  "--cluster",
  "--user",
  "--as",
  "--server",
  "-s",
  "--token",
  "--request-timeout",
];

/** Reads the arguments; `help`; or `wrong`, one line about the mistake. */
export function readCommandLine(args: readonly string[]): PluginCommand | "help" | { readonly wrong: string } {
  const kubectl: string[] = [];
  let namespace: string | undefined;
  let target: string | undefined;
  const release: { namespace?: string; name?: string } = {};
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    const [option = "", inline] = arg.startsWith("--") ? splitOnce(arg, "=") : [arg];
    const isNamespace = option === "-n" || option === "--namespace";
    const ofRelease = Object.hasOwn(releaseOptions, option) ? releaseOptions[option] : undefined;
    if (isNamespace || ofRelease !== undefined || kubectlOptions.includes(option)) {
      const value = inline ?? args[++index];
      if (value === undefined) return { wrong: `${option}: its value is missing` };
      if (isNamespace) namespace = value;
      else if (ofRelease !== undefined) release[ofRelease] = value;
      else kubectl.push(option, value);
    } else if (option === "--help" || option === "-h") {
      return "help";
    } else if (arg.startsWith("-")) {
      return { wrong: `${arg}: unknown before the command; options of plexusctl stand after the command` };
    } else if (target === undefined) {
      target = arg;
    } else {
      const named = Object.keys(release).length === 0 ? {} : { release };
      return { kubectl, ...targetOf(target, namespace), ...named, control: args.slice(index) };
    }
  }
  if (target === undefined) return args.length === 0 ? "help" : { wrong: "give a pod or node/NODE, and a command" };
  return { wrong: `${target}: give a command of plexusctl after it, such as status` };
}

function targetOf(target: string, namespace: string | undefined): Pick<PluginCommand, "pod" | "node"> {
  if (/^nodes?\//.test(target)) return { node: target.slice(target.indexOf("/") + 1) };
  return { pod: { name: target.replace(/^pods?\//, ""), namespace } };
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
