import { expect, test } from "vitest";
import { defaultNetworkAnnotation } from "./default-network-selection.ts";
import { resourceNameAnnotation } from "./device-id.ts";
import { defaultNetworksAnnotation, verifyAnnotation } from "./extension-keys.ts";
import { keptAnnotations } from "./kept-annotations.ts";
import { networkStatusAnnotation } from "./network-status.ts";
import { checkPodUid, isStatic, type Pod } from "./pod.ts";
import { networksAnnotation } from "./selection.ts";

const read = [networksAnnotation, defaultNetworkAnnotation, defaultNetworksAnnotation, verifyAnnotation, resourceNameAnnotation];

test("annotations that Plexus reads are kept, the others are not", () => {
  const other = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "k8s.ovn.org/pod-networks",
    networkStatusAnnotation,
    "plexus.dev/conditions",
    "plexus.dev/network-status",
  ];
  const annotations = new Map([...read, ...other].map((key) => [key, key]));
  expect([...keptAnnotations(annotations).keys()]).toEqual(read);
});

test("the annotation of a static pod's mirror is kept", () => {
  const annotations = new Map([
    ["kubernetes.io/config.source", "file"],
    ["kubernetes.io/config.mirror", "hash"],
  ]);
  const pod: Pod = { namespace: "a", name: "b", uid: "mirror", annotations: keptAnnotations(annotations) };
  expect([isStatic(pod), checkPodUid(pod, "hash").ok, checkPodUid(pod, "other").ok]).toEqual([true, true, false]);
});
