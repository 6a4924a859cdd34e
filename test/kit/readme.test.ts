// The kit's page describes what the code reads.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hostLink, podAddress, podMac } from "../../delegates/sdk/conformance/earlier-result.ts";
import { linkMembers } from "../../delegates/sdk/testing/vector.ts";

const page = readFileSync("delegates/sdk/README.md", "utf8");

/** The text of a section. */
function section(heading: string): string {
  const [, after = ""] = page.split(`### ${heading}\n`);
  return after.split(/\n##+ /)[0] ?? "";
}

test("the page has each member of a vector's link", () => {
  const text = section("A vector's links");
  expect(linkMembers.filter((member) => !text.includes(`\`${member}\``))).toEqual([]);
});

test("the page has the addresses of the conformance kit", () => {
  for (const text of [podAddress(1).replace(".1.", ".N."), hostLink(1).replace("1", "N"), podMac(1).replace(":01:", ":NN:")])
    expect(page).toContain(`\`${text}\``);
  for (const file of ["component/memory-ipam.ts", "native/kit-ipam.ts"])
    expect(readFileSync(`delegates/sdk/conformance/${file}`, "utf8")).toContain("10.200.0.1");
});
