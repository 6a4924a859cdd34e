import { expect, it } from "vitest";
import { maxWork, WorkBudget } from "./work-budget.ts";

const spend = (coreInstances: number | undefined, imports: number) => (): void => {
  new WorkBudget(coreInstances).spend("coreImports", imports, 0);
};

it("permits more core imports only with more core instances, and a refusal names that limit", () => {
  expect(spend(undefined, maxWork.coreImports)).not.toThrow();
  expect(spend(1, maxWork.coreImports)).not.toThrow();
  expect(spend(undefined, maxWork.coreImports + 1)).toThrow("more than 2000 imports of core instances: 2001");
  expect(spend(48, 4800)).not.toThrow();
  expect(spend(48, 4801)).toThrow("more than 4800 imports of core instances: 4801");
  expect(spend(48, 4801)).toThrow("wasm.limits.coreInstances");
});
