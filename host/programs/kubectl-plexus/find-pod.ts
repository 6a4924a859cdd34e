// Finds the pod of Plexus that runs on a node. A label proves nothing: whoever may create pods can set it. So the pod must belong to the DaemonSet of the
// release, in the release's namespace, and have its service account.

import { z } from "zod";

/** The release of Plexus: the name is the DaemonSet's. */
export interface PlexusRelease {
  readonly namespace: string;
  readonly name: string;
}

/** A pod of Plexus. */
export interface PlexusPod {
  readonly namespace: string;
  readonly name: string;
}

/** Asks kubectl and answers its stdout. Rejects with kubectl's message. */
export type AskKubectl = (args: readonly string[]) => Promise<string>;

/** The release of `deploy/plexus.yaml` and of the how-to. */
export const usualRelease: PlexusRelease = { namespace: "kube-system", name: "plexus" };

const daemonSet = z.object({
  metadata: z.object({ uid: z.string().min(1), labels: z.record(z.string(), z.string()).default({}) }),
  spec: z.object({ template: z.object({ spec: z.object({ serviceAccountName: z.string().min(1) }) }) }),
});
const owner = z.object({ kind: z.string(), uid: z.string(), controller: z.boolean().default(false) });
const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), ownerReferences: z.array(owner).default([]) }),
      spec: z.object({ nodeName: z.string().default(""), serviceAccountName: z.string().default("") }),
    }),
  ),
});

/** The node of a pod, and its namespace. Throws if the pod has no node yet. */
export async function placeOfPod(
  ask: AskKubectl,
  name: string,
  namespace: string | undefined,
): Promise<{ readonly node: string; readonly namespace: string }> {
  const where = namespace === undefined ? [] : ["-n", namespace];
  const found = await ask(["get", "pod", name, ...where, "-o", "jsonpath={.metadata.namespace} {.spec.nodeName}"]);
  const [podNamespace = "", node = ""] = found.split(" ");
  if (node === "") throw new Error(`pod ${name} is on no node yet`);
  return { node, namespace: podNamespace };
}

/** The running pod of the release on this node. Throws with the reason and the remedy if there is none. */
export async function plexusPodOn(ask: AskKubectl, node: string, { namespace, name }: PlexusRelease): Promise<PlexusPod> {
  const what = `DaemonSet ${namespace}/${name}`;
  const found = await ask(["get", "daemonset", name, "-n", namespace, "--ignore-not-found", "-o", "json"]);
  if (found.trim() === "") throw new Error(`there is no ${what}. ${nameTheRelease}`);
  const set = daemonSet.parse(JSON.parse(found));
  if (set.metadata.labels["app.kubernetes.io/name"] !== "plexus")
    throw new Error(`${what} is not Plexus': it lacks the label app.kubernetes.io/name=plexus. ${nameTheRelease}`);
  const fields = `spec.nodeName=${node},status.phase=Running`;
  const { items } = pods.parse(JSON.parse(await ask(["get", "pods", "-n", namespace, "--field-selector", fields, "-o", "json"])));
  const pod = items.find(
    ({ metadata, spec }) =>
      spec.nodeName === node &&
      metadata.ownerReferences.some(
        ({ kind, uid, controller }) => controller && kind === "DaemonSet" && uid === set.metadata.uid,
      ),
  );
  if (pod === undefined)
    throw new Error(`no pod of the ${what} runs on node ${node}: kubectl get nodes lists the nodes. ${nameTheRelease}`);
  const { serviceAccountName } = set.spec.template.spec;
  if (pod.spec.serviceAccountName !== serviceAccountName)
    throw new Error(
      `pod ${namespace}/${pod.metadata.name} has the service account "${pod.spec.serviceAccountName}", and not "${serviceAccountName}" of the ${what}: ` +
        "it is not used. Wait for the DaemonSet's rollout, or look who made the pod",
    );
  return { namespace, name: pod.metadata.name };
}

const nameTheRelease =
  "If Plexus is installed under another name, give it: --plexus-namespace NAMESPACE --plexus-release NAME, or PLEXUS_NAMESPACE and PLEXUS_RELEASE " +
  "in the environment (helm list --all-namespaces shows releases)";
