import { expect, test } from "vitest";
import { claimNamesOf } from "./claim-names.ts";

test("DR-11: a pod's claims are those that it names, those of its templates and that of its extended resources", () => {
  const pod = {
    spec: {
      resourceClaims: [
        { name: "a", resourceClaimName: "shared" },
        { name: "b", resourceClaimTemplateName: "t" },
      ],
    },
    status: {
      resourceClaimStatuses: [{ name: "b", resourceClaimName: "web-b-x1" }, { name: "c" }, null],
      extendedResourceClaimStatus: { resourceClaimName: "web-extended" },
    },
  };
  expect(claimNamesOf(pod)).toEqual(["shared", "web-b-x1", "web-extended"]);
});

test("a pod without claims has none, and a name with a slash is none", () => {
  expect(claimNamesOf({ spec: { resourceClaims: [{ resourceClaimName: "../pods" }] } })).toEqual([]);
  expect(claimNamesOf(undefined)).toEqual([]);
});
