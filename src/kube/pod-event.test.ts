import { expect, test } from "vitest";

import { subdomainProblem } from "../npwg/object-names.ts";
import { eventText } from "./event.ts";
import { type EventPod, involvedPod, type PodEvent, podEventContent } from "./pod-event.ts";

const hash = (text: string): string => text.length.toString(16).padStart(16, "0");
const at = new Date("2026-11-21T10:20:30.456Z");
const pod = (name: string) => ({ namespace: "shop", name, uid: "u", annotations: new Map() });

const read = (text: string) => JSON.parse(text);
const podEvent = (of: EventPod, event: PodEvent, time: Date, short: (text: string) => string): string =>
  eventText(involvedPod(of), podEventContent(event), time, short);

test("MA-06 the object is an Event of the pod, of type Warning if a network is missing", () => {
  expect(read(podEvent(pod("web"), { reason: "AddedInterface", message: "Add eth0" }, at, hash))).toMatchObject({
    metadata: { namespace: "shop", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
    involvedObject: { kind: "Pod", namespace: "shop", name: "web", uid: "u" },
    type: "Normal",
    firstTimestamp: "2026-11-21T10:20:30Z",
    count: 1,
  });
  expect(read(podEvent(pod("web"), { reason: "NoNetworkFound", message: "" }, at, hash))).toMatchObject({ type: "Warning" });
});

test("E-11: a step that was passed over is a Warning", () => {
  const event = { reason: "StepPassedOver", message: "eth0 from default: plugin tuning failed and was passed over: x" } as const;
  expect(read(podEvent(pod("web"), event, at, hash))).toMatchObject({ type: "Warning", reason: "StepPassedOver" });
});

test("MA-06 the name depends on pod, reason, message and minute, so that the API server keeps one Event", () => {
  const seen: string[] = [];
  const note = (text: string): string => {
    seen.push(text);
    return "0";
  };
  const event = { reason: "AddedInterface", message: "a" } as const;
  podEvent(pod("web"), event, at, note);
  podEvent(pod("web"), event, new Date(at.getTime() + 29_000), note);
  podEvent(pod("web"), event, new Date(at.getTime() + 30_000), note);
  podEvent(pod("web"), { ...event, message: "b" }, at, note);
  podEvent({ ...pod("web"), uid: "v" }, event, at, note);
  expect(seen[1]).toBe(seen[0]);
  expect(new Set(seen).size).toBe(4);
});

test.each(["a".repeat(253), `${"a".repeat(235)}.${"b".repeat(10)}`, `${"a".repeat(235)}-b`])(
  "the name of a long pod is valid",
  (name) => {
    const { metadata, message } = read(podEvent(pod(name), { reason: "AddedInterface", message: "x".repeat(5_000) }, at, hash));
    expect([subdomainProblem(metadata.name), message.length]).toEqual([undefined, 1_000]);
  },
);

test("a link's name in a message cannot change the terminal of a reader", () => {
  const event = podEvent(
    pod("web"),
    { reason: "InterfaceLost", message: "net1 (\u001b[2Jx now)\nlost" },
    new Date(0),
    () => "hash",
  );
  expect(JSON.parse(event)).toMatchObject({ message: "net1 (x now) lost" });
});
