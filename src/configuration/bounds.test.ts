import { describe, expect, test } from "vitest";
import { checkAttachmentCount, checkPluginCount, defaultBounds } from "./bounds.ts";

describe("the bounds of an ADD", () => {
  test("a list may have 32 plugins; the fault of a longer one names the network, the number, the bound and the key", () => {
    expect(checkPluginCount(defaultBounds, "shop/long", 32)).toEqual({ ok: true, value: undefined });
    expect(checkPluginCount(defaultBounds, "shop/long", 33)).toMatchObject({
      fault: {
        kind: "BOUND_EXCEEDED",
        code: 7,
        msg: "network shop/long: its list has 33 plugins, but at most 32 are allowed (bounds.pluginsPerNetwork)",
      },
    });
  });

  test("a pod may have 64 attachments, the administrator's included; the fault names the pod's selection", () => {
    expect(checkAttachmentCount(defaultBounds, { configured: 2, selected: 62 }).ok).toBe(true);
    expect(checkAttachmentCount(defaultBounds, { configured: 2, selected: 63 })).toMatchObject({
      fault: {
        msg: "the pod's annotation k8s.v1.cni.cncf.io/networks selects 63 networks, and the configuration adds 2: 65 in all, but a pod may have at most 64 attachments (bounds.attachmentsPerPod)",
      },
    });
  });

  test("a pod without a selection is not blamed for the administrator's networks", () => {
    expect(checkAttachmentCount({ ...defaultBounds, attachmentsPerPod: 2 }, { configured: 3, selected: 0 })).toMatchObject({
      fault: { msg: expect.stringMatching(/^the configuration gives each pod 3 networks: 3 in all/) },
    });
  });
});
