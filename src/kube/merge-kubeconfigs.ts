// Several kubeconfigs as one, by the rules of clientcmd: the first file that has a name or a value wins.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files

import { isJsonObject } from "../json/document.ts";

/** A parsed kubeconfig. */
export interface KubeconfigFile {
  /** The absolute path of its directory, to which its relative paths refer. */
  readonly directory: string;
  readonly value: unknown;
}

type Section = Readonly<Record<string, unknown>>;

/** The lists of a kubeconfig: the member of an entry, and the member's keys that are paths. */
const lists: Readonly<Record<string, readonly [member: string, paths: readonly string[]]>> = {
  contexts: ["context", []],
  clusters: ["cluster", ["certificate-authority"]],
  users: ["user", ["client-certificate", "client-key", "tokenFile"]],
};

/** The kubeconfig of all files, the first one first. Its paths are absolute. A file that is no object counts as empty. */
export function mergeKubeconfigs(files: readonly KubeconfigFile[]): Section {
  const sections = files.map(({ directory, value }) => ({ directory, value: isJsonObject(value) ? value : {} }));
  const current = sections.map(({ value }) => value["current-context"]).find((name) => name !== undefined && name !== "");
  const merged: Record<string, unknown> = { "current-context": current };
  for (const [list, [member, paths]] of Object.entries(lists))
    merged[list] = sections.flatMap(({ directory, value }) =>
      entriesOf(value[list]).map((entry) => resolved(entry, member, paths, directory)),
    );
  return merged;
}

/** A list that is absent or malformed has no entries. The reader takes the first entry of a name. */
function entriesOf(list: unknown): readonly Section[] {
  return Array.isArray(list) ? list.filter((entry: unknown) => isJsonObject(entry)) : [];
}

function resolved(entry: Section, member: string, paths: readonly string[], directory: string): Section {
  const value = entry[member];
  if (!isJsonObject(value)) return entry;
  const made: Record<string, unknown> = { ...value };
  for (const key of paths) made[key] = absolute(value[key], directory);
  const exec = value["exec"];
  // A command without a slash is looked up on PATH.
  if (isJsonObject(exec) && typeof exec["command"] === "string" && exec["command"].includes("/"))
    made["exec"] = { ...exec, command: absolute(exec["command"], directory) };
  return { ...entry, [member]: made };
}

function absolute(path: unknown, directory: string): unknown {
  return typeof path !== "string" || path === "" || path.startsWith("/") ? path : `${directory}/${path}`;
}
