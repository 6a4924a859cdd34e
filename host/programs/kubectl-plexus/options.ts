// The options of `kubectl plexus`: the pod's namespace, the release of Plexus, and options of kubectl itself.

/** The options that were read. */
export interface ReadOptions {
  readonly kubectl: readonly string[];
  readonly namespace: string | undefined;
  readonly release: { readonly namespace?: string; readonly name?: string };
  /** The arguments from the first one on that is no such option. */
  readonly rest: readonly string[];
}

const releaseOptions: ReadonlyMap<string, "namespace" | "name"> = new Map([
  ["--plexus-namespace", "namespace"],
  ["--plexus-release", "name"],
]);
const kubectlOptions: readonly string[] = [
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
const namespaceOptions: readonly string[] = ["-n", "--namespace"];

/** All options, for completion. */
export const optionNames: readonly string[] = [...namespaceOptions, ...kubectlOptions, ...releaseOptions.keys()];

/** Whether a word is an option with a value. */
export function isOption(word: string): boolean {
  return optionNames.includes(word);
}

/** Reads options up to the first argument that is none, in addition to those read before; or `wrong`, one line about the mistake. `isRead`: the options that count. */
export function readOptions(
  args: readonly string[],
  before?: ReadOptions,
  isRead: (option: string) => boolean = isOption,
): ReadOptions | { readonly wrong: string } {
  const kubectl = [...(before?.kubectl ?? [])];
  let namespace = before?.namespace;
  const release: { namespace?: string; name?: string } = { ...before?.release };
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] ?? "";
    const at = arg.startsWith("--") ? arg.indexOf("=") : -1;
    const option = at === -1 ? arg : arg.slice(0, at);
    if (!isRead(option)) break;
    const value = at === -1 ? args[++index] : arg.slice(at + 1);
    if (value === undefined) return { wrong: `${option}: its value is missing` };
    const ofRelease = releaseOptions.get(option);
    if (namespaceOptions.includes(option)) namespace = value;
    else if (ofRelease !== undefined) release[ofRelease] = value;
    else kubectl.push(option, value);
  }
  return { kubectl, namespace, release, rest: args.slice(index) };
}
