import { expect, test } from "vitest";
import { maxCheckedLength } from "../../../host/controller/definitions/stored-definition.ts";
import { parametersState } from "./definition-parameters.ts";
import { storedDefinition } from "./stored.ts";

const ref = { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "a", namespace: "shop" };

test.each([
  [maxCheckedLength, undefined],
  [
    maxCheckedLength + 1,
    `spec.config has ${maxCheckedLength + 1} characters; plexus-controller examines at most ${maxCheckedLength}`,
  ],
])("FI-05: a definition of %d characters is read again for each object that refers to it, up to a length", (length, problem) => {
  const head = '{"cniVersion":"1.0.0","name":"a","type":"bridge","x":"';
  const config = `${head}${"x".repeat(length - head.length - 2)}"}`;
  const stored = storedDefinition({ metadata: { namespace: "shop", name: "a" }, spec: { config } });
  expect(stored?.size).toBe(problem === undefined ? length : 0);
  const state = parametersState([ref], "", () => stored?.value);
  expect(state.problem?.includes(problem ?? "")).toBe(problem === undefined ? undefined : true);
});
