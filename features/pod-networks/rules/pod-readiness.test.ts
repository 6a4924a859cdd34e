import { describe, expect, test } from "vitest";
import { type PodNetwork, type PodNetworkAttachment, readPodNetwork, readPodNetworkAttachment } from "./objects.ts";
import { waitReason } from "./pod-readiness.ts";
import { readPodNetworks } from "./pod-networks.ts";

const ready = { conditions: [{ type: "Ready", status: "True", reason: "Ready", observedGeneration: 1 }] };
const refs = [{ group: "k8s.cni.cncf.io", kind: "NetworkAttachmentDefinition", namespace: "shop", name: "a" }];

function network(name: string, spec: object): PodNetwork {
  const read = readPodNetwork({ metadata: { name, uid: "u", resourceVersion: "1", generation: 1 }, spec, status: ready });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function attachment(name: string, parametersRefs: readonly object[]): PodNetworkAttachment {
  const metadata = { name, namespace: "shop", uid: "u", resourceVersion: "1", generation: 1 };
  const read = readPodNetworkAttachment({ metadata, spec: { podNetworkName: "bare", parametersRefs }, status: ready });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

const networks = [network("default", {}), network("bare", {}), network("whole", { parametersRefs: refs })];
const attachments = [attachment("with", refs), attachment("without", [])];

function reasonFor(text: string): string | undefined {
  const entries = readPodNetworks(text);
  if (!entries.ok) throw new Error(entries.fault.msg);
  return waitReason(entries.value, {
    network: (name) => networks.find((each) => each.name === name),
    attachment: (name) => attachments.find((each) => each.name === name),
  });
}

describe("a pod waits", () => {
  test.each(['[{"podNetworkName":"bare"}]', '[{"podNetworkAttachmentName":"without"}]'])(
    "behind its gate, not on its node, for a network without parameters: %s",
    (text) => expect(reasonFor(text)).toContain('PodNetwork "bare" has no parametersRefs'),
  );

  test.each(['[{"podNetworkName":"default"},{"podNetworkName":"whole"}]', '[{"podNetworkAttachmentName":"with"}]'])(
    "not if parameters come from the network or the attachment, or it is the default network: %s",
    (text) => expect(reasonFor(text)).toBeUndefined(),
  );
});
