// Completion of `kubectl plexus`. kubectl runs the program under the name `completer` with the words of the command line, the last of which is not complete, and
// expects Cobra's form: candidates, each in a line, and a directive.

import { z } from "zod";
import type { AskKubectl } from "./find-pod.ts";
import { isOption, optionNames, readOptions } from "./options.ts";

/** The name under which kubectl runs a plugin for its completion. */
export const completer = "kubectl_complete-plexus";
/** Cobra's directive that the shell shall not complete names of files. */
const noFiles = ":4\n";
const statusKey = "k8s.v1.cni.cncf.io/network-status";
const withStatus = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }) });
const networks = z.array(z.object({ name: z.string().default(""), default: z.boolean().default(false) }));

/** The completion for these words. `ask` gets options of kubectl with each question. A question that fails has no candidates. */
export async function completed(words: readonly string[], ask: AskKubectl): Promise<string> {
  const typed = words.at(-1) ?? "";
  const candidates = await candidatesFor(words.slice(0, -1), typed, ask).catch(() => []);
  return [...candidates.filter((each) => each.startsWith(typed)).map((each) => `${each}\n`), noFiles].join("");
}

async function candidatesFor(before: readonly string[], typed: string, ask: AskKubectl): Promise<readonly string[]> {
  const last = before.at(-1) ?? "";
  const known = readOptions(isOption(last) ? before.slice(0, -1) : before);
  if ("wrong" in known) return [];
  const [first, ...behind] = known.rest;
  const isProbe = first === "probe";
  const read = isProbe ? readWords(behind, known) : known;
  if (read === undefined) return [];
  const list = async (kind: string, namespace?: string): Promise<readonly string[]> => {
    const where = namespace === undefined ? [] : ["-n", namespace];
    const names = await ask([...read.kubectl, "get", kind, ...where, "-o", "name"]).catch(() => "");
    return names.split("\n").flatMap((line) => (line === "" ? [] : [line.slice(line.indexOf("/") + 1)]));
  };
  if (isOption(last)) return last === "-n" || last === "--namespace" ? list("namespaces") : [];
  if (typed.startsWith("-")) return [...optionNames, "--help"];
  if (first === undefined) {
    if (typed.startsWith("node/")) return (await list("nodes")).map((name) => `node/${name}`);
    return ["probe", "node/", ...(await list("pods", read.namespace))];
  }
  const [pod, network] = read.rest;
  if (!isProbe || network !== undefined) return [];
  if (pod === undefined) return list("pods", read.namespace);
  return networksOf(read.kubectl, pod, read.namespace, ask);
}

/** The words behind `probe`, without the options between them; undefined: an option lacks its value. */
function readWords(args: readonly string[], before: Exclude<ReturnType<typeof readOptions>, { wrong: string }>) {
  let read = { ...before, rest: args };
  const words: string[] = [];
  while (read.rest.length > 0) {
    const next = readOptions(read.rest, read);
    if ("wrong" in next) return undefined;
    words.push(...next.rest.slice(0, 1));
    read = { ...next, rest: next.rest.slice(1) };
  }
  return { ...read, rest: words };
}

/** The further networks of a pod, as its network status has them. */
async function networksOf(
  kubectl: readonly string[],
  pod: string,
  namespace: string | undefined,
  ask: AskKubectl,
): Promise<readonly string[]> {
  const [space = namespace, name = pod] = /^[^/]+\//.test(pod) && !/^pods?\//.test(pod) ? pod.split("/") : [];
  const where = space === undefined ? [] : ["-n", space];
  const text = await ask([...kubectl, "get", "pod", name.replace(/^pods?\//, ""), ...where, "-o", "json"]);
  const { annotations } = withStatus.parse(JSON.parse(text)).metadata;
  const status = networks.parse(JSON.parse(annotations[statusKey] ?? "[]"));
  return [...new Set(status.flatMap((each) => (each.default || each.name === "" ? [] : [each.name])))];
}
