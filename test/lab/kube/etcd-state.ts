// The objects that an API server keeps in etcd: read, and restored later. Requests go to etcd's JSON gateway (https://etcd.io/docs/v3.5/dev-guide/api_grpc_gateway/).

/** An object of etcd: a key of the API server, and the object's bytes in base64. */
type Objects = ReadonlyMap<string, string>;

interface KeyValue {
  readonly key: string;
  readonly value?: string;
}

const prefix = "/registry/";
/** The first key after all keys that begin with `prefix`. */
const end = "/registry0";
/** etcd's default bound of a transaction (--max-txn-ops). */
const maxOperations = 128;

/** Objects that the API server itself writes again and again. */
const ofTheServer = [
  "/registry/leases/kube-system/apiserver-",
  "/registry/masterleases/",
  "/registry/ranges/",
  "/registry/configmaps/kube-system/",
  "/registry/services/specs/default/kubernetes",
  "/registry/endpointslices/default/kubernetes",
];

/** Reads all objects that the API server of the etcd at `store`, such as `http://127.0.0.1:2379`, has. */
export async function objectsInEtcd(store: string): Promise<Objects> {
  const { kvs = [] } = await gateway<{ kvs?: readonly KeyValue[] }>(store, "range", {
    key: base64(prefix),
    range_end: base64(end),
  });
  return new Map(kvs.map(({ key, value = "" }) => [Buffer.from(key, "base64").toString(), value]));
}

/**
 * Makes the objects what they were: later ones are deleted, deleted and changed ones are written. The API server's watches see these changes
 * as any others. Answers the keys that were deleted or written.
 */
export async function restoreObjects(store: string, saved: Objects): Promise<readonly string[]> {
  const now = await objectsInEtcd(store);
  const added = [...now.keys()].filter((key) => !saved.has(key) && isOfTests(key));
  const changed = [...saved].filter(([key, value]) => now.get(key) !== value && isOfTests(key));
  const operations = [
    ...added.map((key) => ({ request_delete_range: { key: base64(key) } })),
    ...changed.map(([key, value]) => ({ request_put: { key: base64(key), value } })),
  ];
  for (let first = 0; first < operations.length; first += maxOperations)
    await gateway(store, "txn", { success: operations.slice(first, first + maxOperations) });
  return [...added, ...changed.map(([key]) => key)];
}

const isOfTests = (key: string): boolean => !ofTheServer.some((each) => key.startsWith(each));
const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function gateway<T>(store: string, method: string, body: object): Promise<T> {
  const answer = await fetch(`${store}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd's ${method}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
