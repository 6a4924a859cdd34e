import { beforeAll, expect, test } from "vitest";
import { loadGuest, type Guest } from "./load-guest.ts";

let guest: Guest;
beforeAll(async () => {
  guest = await loadGuest("probe.ts");
});

const long = "00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01";

test.each([
  ["0a:58:0a:01:00:02", "0a:58:0a:01:00:02"],
  ["C2-11-22-33-44-5F", "c2:11:22:33:44:5f"],
  ["c211.2233.445F", "c2:11:22:33:44:5f"],
  ["02:00:5e:10:00:00:00:01", "02:00:5e:10:00:00:00:01"],
  ["0200.5e10.0000.0001", "02:00:5e:10:00:00:00:01"],
  [long, long],
  [long.replaceAll(":", "-"), long],
])("%s is read as Go's net package reads it", (text, expected) => {
  expect(guest.text("mac", text)).toBe(expected);
});

test.each([
  "",
  "0a:58:0a:01:00",
  "0a:58:0a:01:00:0",
  "0a:58:0a:01:00:02:",
  "0a:58:0a:01:00:02:03",
  "0a:58:0a:01:00-02",
  "0a:58:0a:01:00:0g",
  "0a58:0a01:0002",
  "c211.2233.44",
  "c211.2233.445f.",
  "c211:2233:445f:",
  "0a580a010002",
  " 0a:58:0a:01:00:02",
  "0a:58:0a:01:00:0\u0660",
  `${long}:01`,
])("%j is no hardware address", (text) => {
  expect(guest.text("mac", text)).toBe("none");
});
