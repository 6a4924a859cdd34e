// Plexus' client with the token of a service account.

import { readFileSync } from "node:fs";
import { ApiObjects, objectSockets } from "../../../host/cluster/kube/api-objects.ts";
import { Connection } from "../../../host/cluster/kube/connection.ts";
import { ok } from "../../../src/fault/result.ts";
import type { ApiServer } from "./api-server.ts";
import { systemClock } from "../../../host/system/clock.ts";

/** The client of a service account; `admin` makes its token, bound to the Node `node` if there is one. */
export async function objectsOfAccount(
  api: Pick<ApiServer, "url" | "authority">,
  admin: ApiObjects,
  namespace: string,
  name: string,
  node?: string,
): Promise<ApiObjects> {
  const bound = node === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Node", name: node } };
  const body = { spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600, ...bound } };
  const made = await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, body);
  const token = (made as { object?: { status?: { token?: string } } }).object?.status?.token;
  const credentials = {
    source: "test",
    server: api.url,
    authority: readFileSync(api.authority.certificate, "utf8"),
    serverName: undefined,
    insecure: false,
    token,
    certificate: undefined,
  };
  return new ApiObjects({
    connection: new Connection(systemClock, objectSockets),
    credentials: async () => ok(credentials),
  });
}
