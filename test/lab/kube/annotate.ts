// Changes the annotation by which a pod of the API selects its networks.

import { PatchStrategy } from "@kubernetes/client-node";
import { networksAnnotation } from "../../../src/npwg/selection.ts";
import type { ApiServer, CreatedPod } from "./api-server.ts";

/** Sets the pod's selection; undefined removes the annotation. Resolves when the API server has stored the change. */
export async function selectNetworks(
  { admin }: Pick<ApiServer, "admin">,
  { namespace, name }: Pick<CreatedPod, "namespace" | "name">,
  selection: string | undefined,
): Promise<void> {
  // A merge patch removes a key whose value is null, which the client's types do not have.
  const annotations: Record<string, string> = {};
  Reflect.set(annotations, networksAnnotation, selection ?? null);
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name, annotations } };
  await admin.patch(pod, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
}
