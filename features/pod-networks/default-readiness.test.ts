// The readiness of a node for the default PodNetwork, and the keys that ask for it.

import { describe, expect, test } from "vitest";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { defaultPodNetworkExists } from "./default-readiness.ts";
import { podNetworks } from "./feature.ts";
import { type PodNetwork, readPodNetwork } from "./rules/objects.ts";

const read = readPodNetwork({ metadata: { name: "default", uid: "u", resourceVersion: "1", generation: 1 }, spec: {} });

/** The answer where the API answers `network` to a request for the PodNetwork `default`. */
const answered = (network: Result<PodNetwork | undefined>): Promise<Result<void>> =>
  defaultPodNetworkExists({
    objects: async () => ({ network: async () => network, attachment: async () => ok(undefined) }) as never,
  });

const isOn = (keys: object): boolean | undefined => podNetworks.plan?.readiness?.isOn(keys as HostConfiguration);

describe("the default PodNetwork of a node that requires it", () => {
  test("KE-29: exists in whatever state, is missing, or cannot be read", async () => {
    if (!read.ok) throw new Error(read.problem);
    expect(await answered(ok(read.value))).toEqual(ok(undefined));
    expect(await answered(ok(undefined))).toMatchObject({ fault: { msg: "default PodNetwork not found in API" } });
    const away = fault("CLUSTER_UNREADABLE", "the API server does not answer");
    expect(await answered(failed(away))).toEqual(failed(away));
    expect(await defaultPodNetworkExists(undefined)).toMatchObject({ fault: { msg: expect.stringContaining("kubeconfig") } });
  });

  test("is asked for with both keys only", () => {
    expect(isOn({ podNetworks: true, requireDefaultPodNetwork: true })).toBe(true);
    expect(isOn({ podNetworks: true, requireDefaultPodNetwork: false })).toBe(false);
    expect(isOn({ podNetworks: false, requireDefaultPodNetwork: true })).toBe(false);
  });
});
