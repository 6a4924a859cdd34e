import { describe, expect, test } from "vitest";
import { decideFate, type FateFacts } from "./own-fate.ts";

const object = { kind: "DaemonSet", metadata: { uid: "one" } };
const facts: FateFacts = {
  daemonSet: { status: 200, object },
  namespace: { status: 200, object: { metadata: {} } },
  node: undefined,
  pod: undefined,
  uid: "one",
};
const deleted = { metadata: { uid: "one", deletionTimestamp: "2026-11-23T00:00:00Z" } };
const selecting = { ...object, spec: { template: { spec: { nodeSelector: { plexus: "yes" } } } } };
const tainted = { status: 200, object: { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } } };
const labelled = (labels: object) => ({ status: 200, object: { metadata: { labels } } });

describe("MO-26 the configuration of a stopping daemon", () => {
  test.each<[string, Partial<FateFacts>]>([
    ["the DaemonSet is there", {}],
    ["the DaemonSet's UID was never learnt", { uid: undefined }],
    ["the API gives no answer", { daemonSet: undefined, namespace: undefined }],
    ["the API server is in trouble", { daemonSet: { status: 503, object: {} } }],
    ["the API server is overloaded", { daemonSet: { status: 429, object: {} } }],
    ["the namespace may not be read", { namespace: { status: 403, object: {} } }],
    ["the DaemonSet selects the node", { daemonSet: { status: 200, object: selecting }, node: labelled({ plexus: "yes" }) }],
    ["a container restarts on a node that gets no new pod", { node: tainted, pod: { status: 200, object: { metadata: {} } } }],
    ["the node gets no new pod, and the daemon's pod may not be read", { node: tainted, pod: { status: 403, object: {} } }],
    ["the node may not be read", { daemonSet: { status: 200, object: selecting }, node: { status: 403, object: {} } }],
  ])("stays if %s", (_, more) => {
    expect(decideFate({ ...facts, ...more })).toMatchObject({ stays: true });
  });

  test.each<[string, Partial<FateFacts>]>([
    ["the DaemonSet is gone", { daemonSet: { status: 404, object: {} } }],
    ["the service account is gone", { daemonSet: { status: 401, object: {} } }],
    ["its rights are gone", { daemonSet: { status: 403, object: {} } }],
    ["the DaemonSet is being deleted", { daemonSet: { status: 200, object: deleted } }],
    ["the DaemonSet is another one", { uid: "two" }],
    ["the namespace is being deleted", { namespace: { status: 200, object: deleted } }],
    [
      "the namespace is being deleted, whatever the DaemonSet",
      { daemonSet: undefined, namespace: { status: 200, object: deleted } },
    ],
    [
      "the DaemonSet no longer selects the node",
      { daemonSet: { status: 200, object: selecting }, node: labelled({ plexus: "no" }) },
    ],
    ["the pod is deleted from a node that gets no new one", { node: tainted, pod: { status: 200, object: deleted } }],
    ["the node has no labels", { daemonSet: { status: 200, object: selecting }, node: { status: 200, object: {} } }],
  ])("goes if %s", (_, more) => {
    const fate = decideFate({ ...facts, ...more });
    expect(fate).toMatchObject({ stays: false });
    expect(fate.why).toMatch(/^the /);
  });

  test.each([undefined, 401, 403, 429, 500, 503])("is decided again for a while after the answer %s", (status) => {
    const daemonSet = status === undefined ? undefined : { status, object: {} };
    expect(decideFate({ ...facts, daemonSet })).toMatchObject({ isFinal: false });
  });

  test.each([200, 404])("is decided at once by the answer %i", (status) => {
    expect(decideFate({ ...facts, daemonSet: { status, object } })).toMatchObject({ isFinal: true });
  });
});
