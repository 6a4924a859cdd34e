// Reads Pods and NetworkAttachmentDefinitions of a cluster from its API.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { CollectionList } from "../../cluster/kube/collection-list.ts";
import { Connection } from "../../cluster/kube/connection.ts";
import type { CredentialSource } from "../../cluster/kube/credentials.ts";
import type { ManifestKind, ManifestObject } from "../../cluster/manifests/manifest-objects.ts";
import { systemClock } from "../../system/clock.ts";

const collections: readonly (readonly [ManifestKind, string])[] = [
  ["NetworkAttachmentDefinition", "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"],
  ["Pod", "/api/v1/pods"],
];

/** A collection may change or expire between two of its pages; then it is listed again, at most this often. */
const maxLists = 3;

/**
 * All objects of these kinds in the cluster (default: both), with the right to `list` each kind. Faults: those of the credentials;
 * CLUSTER_UNREADABLE for a refused list.
 */
export async function readClusterFromApi(
  credentials: CredentialSource,
  kinds: readonly ManifestKind[] = collections.map(([kind]) => kind),
): Promise<Result<readonly ManifestObject[]>> {
  const readable = await credentials();
  if (!readable.ok) return readable;
  const connection = new Connection(systemClock);
  try {
    const objects: ManifestObject[] = [];
    for (const [kind, path] of collections.filter(([each]) => kinds.includes(each))) {
      const listed = await listOf(kind, path, connection, credentials);
      if (!listed.ok) return listed;
      objects.push(...listed.value);
    }
    return ok(objects);
  } finally {
    connection.close();
  }
}

async function listOf(
  kind: ManifestKind,
  path: string,
  connection: Connection,
  credentials: CredentialSource,
): Promise<Result<readonly ManifestObject[]>> {
  const url = (query: Readonly<Record<string, string>>): string => `${path}?${new URLSearchParams(query).toString()}`;
  const list = new CollectionList({ connection, credentials, url, metadataOnly: false, consistent: true });
  for (let attempt = 1; ; attempt++) {
    const objects: ManifestObject[] = [];
    const listed = await list.all("0", (object) => {
      const meta = readObjectMeta(object);
      if (meta.ok) objects.push({ kind, namespace: meta.value.namespace, name: meta.value.name, path, object });
      return true;
    });
    if (listed.kind === "listed") return ok(objects);
    if (listed.kind === "relist" && attempt < maxLists) continue;
    const why = listed.kind === "failed" ? listed.why : "the list changed while it was read";
    return failed(fault("CLUSTER_UNREADABLE", `GET ${path}: ${why}`));
  }
}
