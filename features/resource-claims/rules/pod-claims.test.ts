import { expect, test } from "vitest";
import { readPodClaims } from "./pod-claims.ts";

const pod = (spec: object, status: object = {}): object => ({
  metadata: { namespace: "shop", name: "web", uid: "u" },
  spec: { nodeName: "node", ...spec },
  status,
});

test("MA-05: a pod's claims are those that its spec names, those of its templates, and the one for extended resources", () => {
  const claims = readPodClaims(
    pod(
      {
        resourceClaims: [
          { name: "own", resourceClaimTemplateName: "nics" },
          { name: "shared", resourceClaimName: "uplink" },
          { name: "unneeded", resourceClaimTemplateName: "nics" },
          { name: "again", resourceClaimName: "uplink" },
        ],
      },
      {
        resourceClaimStatuses: [{ name: "unneeded" }, { name: "own", resourceClaimName: "web-own-x2" }],
        extendedResourceClaimStatus: {
          resourceClaimName: "web-extended-7",
          requestMappings: [
            { containerName: "a", resourceName: "example.com/nic", requestName: "container-0-request-0" },
            { containerName: "b", resourceName: "example.com/other", requestName: "container-1-request-0" },
          ],
        },
      },
    ),
  );
  expect(claims).toEqual({
    ok: true,
    value: {
      uid: "u",
      nodeName: "node",
      claims: ["web-own-x2", "uplink"],
      extended: {
        claim: "web-extended-7",
        resources: new Map([
          ["container-0-request-0", ["example.com/nic"]],
          ["container-1-request-0", ["example.com/other"]],
        ]),
      },
    },
  });
  expect(readPodClaims(pod({ nodeName: undefined }))).toMatchObject({ ok: true, value: { claims: [], extended: undefined } });
});

test.each([
  [
    "no claim yet",
    pod({ resourceClaims: [{ name: "own", resourceClaimTemplateName: "nics" }] }),
    /no claim yet for the entry "own"/,
  ],
  [
    "another path as a name",
    pod({ resourceClaims: [{ name: "a", resourceClaimName: "../pods/x" }] }),
    /"\.\.\/pods\/x", whose name is not/,
  ],
  [
    "such a name for extended resources",
    pod({}, { extendedResourceClaimStatus: { resourceClaimName: "a/b" } }),
    /"a\/b", whose name/,
  ],
  ["no node", pod({ nodeName: "", resourceClaims: [{ name: "a", resourceClaimName: "a" }] }), /bound to no node/],
  ["a node that ends a selector", pod({ nodeName: "n,x=y", resourceClaims: [{ name: "a", resourceClaimName: "a" }] }), /no node/],
  ["no list", pod({ resourceClaims: {} }), /spec\.resourceClaims is not a list/],
  ["no objects", pod({ resourceClaims: ["a"] }), /spec\.resourceClaims has an entry that is not an object/],
  [
    "too many claims",
    pod({ resourceClaims: Array.from({ length: 65 }, () => ({})) }),
    /has 65 entries, and Plexus reads at most 64/,
  ],
  [
    "too many statuses",
    pod({}, { resourceClaimStatuses: Array.from({ length: 65 }, () => ({})) }),
    /status\.resourceClaimStatuses has 65/,
  ],
])("MA-05: a pod with %s is refused", (_, object, problem) => {
  expect(readPodClaims(object)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});
