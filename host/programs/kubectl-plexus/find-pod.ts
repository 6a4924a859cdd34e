// Finds the pod of Plexus that runs on a node.

/** A pod of Plexus. */
export interface PlexusPod {
  readonly namespace: string;
  readonly name: string;
}

/** Asks kubectl and answers its stdout. Rejects with kubectl's message. */
export type AskKubectl = (args: readonly string[]) => Promise<string>;

/** The label of Plexus' pods. */
const selector = "app.kubernetes.io/name=plexus";

/** The node of a pod. Throws if the pod has none yet. */
export async function nodeOfPod(ask: AskKubectl, name: string, namespace: string | undefined): Promise<string> {
  const where = namespace === undefined ? [] : ["-n", namespace];
  const node = await ask(["get", "pod", name, ...where, "-o", "jsonpath={.spec.nodeName}"]);
  if (node === "") throw new Error(`pod ${name} is on no node yet`);
  return node;
}

/** The running pod of Plexus on this node. Throws with the reason if there is none. */
export async function plexusPodOn(ask: AskKubectl, node: string): Promise<PlexusPod> {
  const fields = `spec.nodeName=${node},status.phase=Running`;
  const form = 'jsonpath={range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}';
  const lines = await ask(["get", "pods", "--all-namespaces", "-l", selector, "--field-selector", fields, "-o", form]);
  for (const line of lines.split("\n")) {
    const [namespace, name] = line.split(" ");
    if (namespace !== undefined && name !== undefined) return { namespace, name };
  }
  throw new Error(`no pod of Plexus (label ${selector}) runs on node ${node}: kubectl get nodes lists the nodes`);
}
