import { expect, test } from "vitest";
import { compat, implementedVersions, profileNamed, strict } from "./profile.ts";

test("each profile is found by its name", () => {
  expect(profileNamed("strict")).toBe(strict);
  expect(profileNamed("compat")).toBe(compat);
  expect([strict.name, compat.name]).toEqual(["strict", "compat"]);
});

test("the profiles differ in every decision", () => {
  const same = Object.entries(strict).filter(([key, value]) => Object.entries(compat).some(([k, v]) => k === key && v === value));
  expect(same).toEqual([]);
});

test("the newest version that is implemented is 1.3", () => {
  expect(implementedVersions.at(-1)).toBe("1.3");
});
