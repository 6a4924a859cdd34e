import { describe, expect, test } from "vitest";
import { redactText, redactValue } from "./redact.ts";

const jwt = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl";

describe("redactText", () => {
  test.each([
    [`level=info token ${jwt} used`, "level=info token [redacted] used"],
    ["Authorization: Bearer abc.def-123", "Authorization: [redacted]"],
    ["POST https://user:pa55@collector:4318/v1", "POST https://[redacted]@collector:4318/v1"],
    ['{"etcd_password":"hunter2","mtu":1400}', '{"etcd_password":"[redacted]","mtu":1400}'],
    ["password=hunter2", "password=[redacted]"],
    ["a -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- b", "a [redacted] b"],
    ["a -----BEGIN CERTIFICATE-----\nMHc\n-----END CERTIFICATE----- b", "a [redacted] b"],
    ["-----BEGIN EC PRIVATE KEY-----\nMHc", "[redacted]"],
    ["LS0tLS1CRUdJTiBDRVJU== end", "[redacted] end"],
    ["joined with abcdef.0123456789abcdef", "joined with [redacted]"],
  ])("%j", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  test.each([
    "10.244.0.7/24 via 10.244.0.1",
    "sha256 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "kubernetes.default.svc",
  ])("%j stays", (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe("redactValue", () => {
  test("keeps a configuration readable", () => {
    const configuration = {
      type: "plexus",
      clusterNetwork: "/etc/cni/net.d/10-a.conflist",
      tokens: 3,
      plugins: [{ type: "vpn", psk: "hunter2", secretRef: { name: "vpn" }, apiKey: "k" }],
    };
    expect(redactValue(configuration)).toEqual({
      type: "plexus",
      clusterNetwork: "/etc/cni/net.d/10-a.conflist",
      tokens: 3,
      plugins: [{ type: "vpn", psk: "[redacted]", secretRef: { name: "vpn" }, apiKey: "[redacted]" }],
    });
  });

  test("keeps of a kubeconfig's user only paths", () => {
    const user = {
      tokenFile: "token",
      "client-key": "/etc/k.pem",
      "client-key-data": "S",
      username: "u",
      password: "p",
      exec: { env: ["S"] },
    };
    expect(redactValue({ users: [{ name: "plexus", user }] })).toEqual({
      users: [
        {
          name: "plexus",
          user: {
            tokenFile: "token",
            "client-key": "/etc/k.pem",
            "client-key-data": "[redacted]",
            username: "[redacted]",
            password: "[redacted]",
            exec: "[redacted]",
          },
        },
      ],
    });
  });

  test("keeps the values of Plexus' annotations only", () => {
    const annotations = { "k8s.v1.cni.cncf.io/networks": "storage", "example.com/note": "hunter2" };
    expect(redactValue({ metadata: { annotations } })).toEqual({
      metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": "storage", "example.com/note": "[redacted]" } },
    });
  });

  test("redacts JSON within a text", () => {
    expect(redactValue({ config: '{"type":"x","password":"hunter2"}' })).toEqual({
      config: '{"type":"x","password":"[redacted]"}',
    });
  });
});
