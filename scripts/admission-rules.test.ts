import { expect, test } from "vitest";
import { admissionRulesDigest } from "./admission-rules.ts";

/** Changes one module of the rules. */
const changing = (path: string) => ({
  name: "changing",
  transform: (code: string, id: string) => (id.endsWith(path) ? `${code}\nglobalThis.changed = true;` : undefined),
});

test("FI-13: the digest of the rules of admission follows each module of theirs", async () => {
  const digest = await admissionRulesDigest();
  expect(digest).toMatch(/^[0-9a-f]{64}$/u);
  expect(await admissionRulesDigest()).toBe(digest);
  for (const path of ["sandbox/admission/examine.ts", "sandbox/admission/code-costs.ts", "sandbox/admission/shapes.ts"])
    expect([path, await admissionRulesDigest(changing(path))]).not.toEqual([path, digest]);
  expect(await admissionRulesDigest(changing("programs/plexusd/main.ts"))).toBe(digest);
});
