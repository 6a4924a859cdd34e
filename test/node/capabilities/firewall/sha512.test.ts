import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { chainName } from "../../../../host/capabilities/firewall/owner.ts";
import { sha512 } from "../../../../host/capabilities/firewall/sha512.ts";

test("hashes a text's UTF-8 by FIPS 180-4", () => {
  expect(sha512("abc")).toBe(
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  );
  // An unpaired surrogate counts as U+FFFD.
  expect(sha512("podsé😀\ud800")).toBe(
    "19c244c17881877c6f8c14c084cc140cec05cbb373a9ae687620b78d378eccd7304f2f9f7d55d557d83c8209502f0f4a81b4a974c3fa09a554f8bf46f2ae8ace",
  );
});

test("the name of an attachment's chain never changes, so that a DEL after an update finds it", () => {
  const owner = { type: "portmap", network: "a b", containerId: "x".repeat(200), ifname: "eth0" };
  expect(chainName("ports", owner)).toBe(
    "ports/c125b86194b8d705b03249d576697d12b08b78d5/b9f7621a6922675cc35ac486ac4ef606eaae23e6",
  );
});

test("node:crypto is loaded by the first hash, not with the capability", () => {
  const capability = JSON.stringify(import.meta.resolve("../../../../host/capabilities/firewall/scope.ts"));
  const hash = JSON.stringify(import.meta.resolve("../../../../host/capabilities/firewall/sha512.ts"));
  const program = `
    const isLoaded = () => process.moduleLoadList.includes("NativeModule crypto");
    await import(${capability});
    const { sha512 } = await import(${hash});
    const before = isLoaded();
    sha512("");
    console.log(before, isLoaded());`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(stdout).toBe("false true\n");
});
